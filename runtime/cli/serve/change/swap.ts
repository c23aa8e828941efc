import type { RequestListener } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import { digestOf } from "../../../core/digest.ts";
import { facilitatorsOf } from "../../../core/rails/facilitators.ts";
import type { Fault } from "../../../core/set/faults.ts";
import type { RailManifest, SiteManifest } from "../../../core/set/manifest.ts";
import type { RailStatus } from "../../../core/x402/rails.ts";
import { createSwitch } from "../../../server/switch.ts";
import { toFaultProblem } from "../../set/check.ts";
import type { ManifestSet } from "../../set/load.ts";
import type { Composition } from "../composition.ts";
import { createCollector } from "./collect.ts";

export interface NextSet {
  readonly set: ManifestSet;
  /** The digest of the set's files. */
  readonly digest?: string | undefined;
  /** The services that earlier sets offered and this one does not. */
  readonly retired?: readonly ManifestSet[];
}

/** Composes a set; returns only the faults when a plugin has any. */
export type ComposeSet = (
  next: NextSet,
  knownRails?: ReadonlyMap<string, RailStatus>,
) => Promise<Composition | readonly Fault[]>;

/** The set that is sold, and the way to replace it without refusing a call. */
export interface Swap {
  readonly listener: RequestListener;
  current(): CurrentSet;
  /**
   * Composes a set beside the current one, and then sells it. Calls in flight end on the set on which they began.
   * @throws Problem `bad-request` with the faults of plugins; `unavailable` when a service could not be sold any more,
   *   when too many earlier sets still have calls in flight, or after `close`. The former set stays then.
   */
  change(next: NextSet): Promise<SwapTimes>;
  /** How many earlier sets still have work in flight. */
  retiring(): number;
  /** Closes the current set and all earlier ones. */
  close(): Promise<void>;
}

export interface CurrentSet {
  readonly set: ManifestSet;
  readonly composition: Composition;
}

export interface SwapDeps {
  readonly compose: ComposeSet;
  readonly log: Log;
}

/** How long a change took, in milliseconds. */
export interface SwapTimes {
  /** The time of composing, while the current set went on selling. */
  readonly prepareMs: number;
  readonly swapMs: number;
}

/** An earlier set that still has work in flight. */
interface Retired {
  readonly over: Promise<void>;
  /** Stops jobs that still run and puts them back into the queue. Calls are never cut off. */
  hurry(): void;
}

/** How many earlier sets may have work in flight. */
const MOST_RETIRED = 8;
/** How long a change waits for one of them to end. */
const PATIENCE_MS = 30_000;
/** No call takes longer, because its connection is closed after ten minutes of silence. */
const LONGEST_CALL_MS = 15 * 60_000;

/** Serves a composed set. The caller must start the composition. */
export function createSwap(first: CurrentSet, { compose, log }: SwapDeps): Swap {
  const { listener, turnTo } = createSwitch(first.composition.listener);
  const retired = new Set<Retired>();
  const noteEnded = createCollector();
  let current = first;
  let changing: Promise<unknown> = Promise.resolve();
  let isClosing = false;

  return {
    listener,
    current: () => current,
    retiring: () => retired.size,
    change(next) {
      const changed = changing.then(() => change(next));
      changing = changed.catch(() => undefined);
      return changed;
    },
    async close() {
      isClosing = true;
      await changing;
      for (const { hurry } of retired) hurry();
      await current.composition.close();
      await Promise.all([...retired].map(({ over }) => over));
    },
  };

  async function change(next: NextSet): Promise<SwapTimes> {
    if (isClosing) throw new Problem("unavailable", "The shop ends: its set is not changed any more");
    const { set } = next;
    const began = performance.now();
    await makeRoom();
    const former = current;
    const composition = await compose(next, commonRails(former, set));
    if (!("listener" in composition)) throw toFaultProblem(composition);
    try {
      await composition.prepare();
      await refuseLosses(former.composition, composition);
    } catch (error) {
      await composition.close();
      throw error;
    }
    const prepared = performance.now();
    current = { set, composition };
    const callsEnded = turnTo(composition.listener);
    const swapped = performance.now();
    retire(former.composition, callsEnded);
    await composition.start();
    return { prepareMs: Math.round(prepared - began), swapMs: Math.round(swapped - prepared) };
  }

  /** @throws Problem `unavailable` when no earlier set ends in time. */
  async function makeRoom(): Promise<void> {
    if (retired.size < MOST_RETIRED) return;
    for (const { hurry } of retired) hurry();
    const waiting = new AbortController();
    const isLate = await Promise.race([
      ...[...retired].map(({ over }) => over.then(() => false)),
      sleep(PATIENCE_MS, true, { signal: waiting.signal }).catch(() => true),
    ]);
    waiting.abort();
    if (isLate)
      throw new Problem("unavailable", `${retired.size} earlier sets still have calls in flight; try again later`);
  }

  function retire(composition: Composition, callsEnded: Promise<void>): void {
    const hurry = Promise.withResolvers<void>();
    const end = async (): Promise<void> => {
      const drained = composition.drain().catch(() => undefined); // The close aborts what has not ended.
      const bound = new AbortController();
      await Promise.race([callsEnded, sleep(LONGEST_CALL_MS, undefined, { signal: bound.signal, ref: false })]).catch(
        () => undefined,
      );
      bound.abort();
      composition.endOffers();
      await Promise.race([drained, hurry.promise]);
      await composition.close();
    };
    const entry: Retired = {
      hurry: hurry.resolve,
      over: end()
        .catch((error: unknown) => log.error("set.close-failed", { error }))
        .finally(() => {
          retired.delete(entry);
          current.composition.takeOver();
          noteEnded();
        }),
    };
    retired.add(entry);
  }
}

/**
 * The last statuses of the rails that a set shares with the current one, by id. A rail with other facilitators is
 * checked like a new one, because an answer of the former facilitators says nothing about the new ones.
 */
function commonRails({ set, composition }: CurrentSet, next: ManifestSet): ReadonlyMap<string, RailStatus> {
  const known = new Set(set.site.rails.map((rail) => toTerms(rail, set.site)));
  const common = next.site.rails.filter((rail) => known.has(toTerms(rail, next.site))).map(({ id }) => id);
  return new Map([...composition.railStatuses()].filter(([id]) => common.includes(id)));
}

/** A text that is equal when the terms of a rail and of its facilitators are equal. */
const toTerms = (rail: RailManifest, site: SiteManifest): string =>
  digestOf({ rail, settlers: facilitatorsOf(rail, site).map((name) => toFacilitator(name, site)) });

const toFacilitator = (name: string, { facilitators = [] }: SiteManifest): object | string =>
  facilitators.find(({ id }) => id === name) ?? name;

/** @throws Problem `unavailable` when a service that can be paid now could not be paid any more. */
async function refuseLosses(former: Composition, next: Composition): Promise<void> {
  const paused = former.unsellable();
  const lost = next
    .unsellable()
    .filter((id) => !paused.includes(id) && former.services.some(({ manifest }) => manifest.id === id));
  if (lost.length === 0) return;
  const reasons = [...next.railStatuses()].flatMap(([id, status]) =>
    status.state === "down" ? [`${id}: ${status.reason}`] : [],
  );
  const { store_reason: outage = "its offers could not be put on record" } = await next.ready();
  const why = reasons.length > 0 ? reasons.join("; ") : outage;
  throw new Problem("unavailable", `${lost.join(", ")} could not be paid on any rail (${why})`);
}
