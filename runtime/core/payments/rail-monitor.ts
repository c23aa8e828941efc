import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { Rail, RailStatus } from "../x402/rails.ts";
import type { SupportedKind } from "../x402/x402.ts";
import type { FacilitatorTrust } from "./trust.ts";

/** Which rails can be offered: a rail is up once its facilitator says so, and recovers by itself. */
export interface RailMonitor {
  statuses(): ReadonlyMap<string, RailStatus>;
  /**
   * Asks every facilitator once, then repeatedly in the background. Never rejects: a silent facilitator's rail is down.
   */
  start(): Promise<void>;
  close(): void;
}

export interface RailMonitorDeps {
  readonly rails: readonly Rail[];
  /** Earlier statuses by id; a rail without one counts as down until it is asked. */
  readonly known?: ReadonlyMap<string, RailStatus> | undefined;
  readonly trust: Pick<FacilitatorTrust, "reasonAgainstAll" | "refresh" | "watch">;
  /** Called before a change is visible. When it rejects, the rails stay as they were and the change is tried again. */
  readonly onChange: (statuses: ReadonlyMap<string, RailStatus>) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
}

/** How long a facilitator may take to answer `supported`. */
const ASK_MS = 3000;
/** How long the other rails wait for it. */
const TOGETHER_MS = 300;
/** The delay before a rail is asked again that is down, or whose change is not on record; doubled up to five times. */
const RETRY_MS = 1000;
/** The interval of the checks while all rails are up. */
const REFRESH_MS = 300_000;
/** The interval for reading the trust records of other processes. */
const TRUST_MS = 10_000;

const UNASKED = "The facilitator has not answered yet";

export function createRailMonitor(deps: RailMonitorDeps): RailMonitor {
  const { rails, known, trust, onChange, onError, clock } = deps;
  const ids = rails.map(({ manifest }) => manifest.id);
  let statuses: ReadonlyMap<string, RailStatus> = new Map(ids.map((id) => [id, known?.get(id) ?? toDown(UNASKED)]));
  let announced = "";
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;
  /** Since the round began. */
  let hasChanged = false;
  let closed = false;

  /** Asks again soon. */
  const refresh = (): void => {
    hasChanged = true;
    if (!isAsking) askIn(0);
  };
  for (const { facilitator } of rails) facilitator.watch?.(refresh);
  trust.watch(refresh);
  /** Reads what other processes or the operator have recorded about facilitators. */
  const listening = setInterval(() => void trust.refresh().catch(onError), TRUST_MS).unref();

  return {
    statuses: () => statuses,
    start: round,
    close() {
      closed = true;
      clearTimeout(timer);
      clearInterval(listening);
    },
  };

  function askIn(ms: number): void {
    clearTimeout(timer);
    if (!closed) timer = setTimeout(() => void round(), ms).unref();
  }

  async function round(): Promise<void> {
    clearTimeout(timer);
    isAsking = true;
    hasChanged = false;
    let isShown = false;
    try {
      await trust.refresh();
      const next = new Map(statuses);
      const all = Promise.all(rails.map(async (rail) => next.set(rail.manifest.id, await ask(rail))));
      const slow = Promise.withResolvers<void>();
      const waiting = setTimeout(slow.resolve, TOGETHER_MS);
      await Promise.race([all, slow.promise]);
      clearTimeout(waiting);
      await show(new Map(next));
      await all;
      await show(next);
      isShown = true;
    } catch (error) {
      onError(error);
    }
    const isGood = isShown && [...statuses.values()].every(({ state }) => state === "up");
    failures = isGood ? 0 : failures + 1;
    const waitMs = isGood ? REFRESH_MS : RETRY_MS * 2 ** Math.min(failures - 1, 5);
    isAsking = false;
    askIn(hasChanged ? 0 : waitMs);
  }

  async function show(next: ReadonlyMap<string, RailStatus>): Promise<void> {
    const text = JSON.stringify([...next]);
    if (text !== announced) await onChange(next);
    announced = text;
    statuses = next;
  }

  /** The status of a rail that is down, since when it went down: under an earlier set, perhaps. */
  function toDown(reason: string, before?: RailStatus): RailStatus {
    return { state: "down", reason, since: before?.state === "down" ? before.since : clock.now() };
  }

  /**
   * A rail that was up stays up while its facilitator does not answer: the outage shows when a payment is verified. A
   * facilitator that says `unavailable` knows that no payment is possible there.
   */
  async function ask({ manifest, facilitator }: Rail): Promise<RailStatus> {
    const known = statuses.get(manifest.id);
    const reason = trust.reasonAgainstAll(manifest);
    if (reason) return toDown(reason, known);
    try {
      const kinds = await facilitator.supported(AbortSignal.timeout(ASK_MS));
      const kind = kinds.find(
        ({ x402Version, scheme, network }) => x402Version === 2 && scheme === "exact" && network === manifest.network,
      );
      if (kind) return { state: "up", extra: toExtra(kind) };
      return toDown(`The facilitator does not support "exact" on ${manifest.network}`, known);
    } catch (error) {
      const isCertain = error instanceof Problem && error.code === "unavailable";
      if (known?.state === "up" && !isCertain) return known;
      return toDown(error instanceof Error ? error.message : String(error), known);
    }
  }
}

/**
 * What buyers need of a facilitator: who pays the fee on Solana. Whatever else it says of itself could change what they
 * sign (`assetTransferMethod`), or make challenges too large for their headers.
 */
const toExtra = ({ extra: { feePayer } = {} }: SupportedKind): Readonly<Record<string, unknown>> =>
  feePayer === undefined ? {} : { feePayer };
