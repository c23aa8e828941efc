import type { Log } from "../../api/capabilities.ts";
import { withNoun } from "../../api/text.ts";
import { createRounds } from "../../core/time/rounds.ts";
import type { IncomingPayment } from "../../drivers/evm/incoming.ts";

/** A rail whose pay address is watched. */
export interface WatchedRail {
  readonly id: string;
  /** CAIP-2. */
  readonly network: string;
  readonly title: string;
  readonly payTo: string;
  /** The newest EIP-3009 payments to the address, at most as old as the payments that the store keeps. */
  readonly incoming: (signal: AbortSignal) => Promise<readonly IncomingPayment[]>;
}

export interface AddressWatchDeps {
  readonly rails: readonly WatchedRail[];
  /** Whether the store knows a payment. @param key `<network>:<payer>:<nonce>`, in lower case. */
  readonly isKnown: (key: string) => Promise<boolean>;
  readonly log: Log;
}

/** Detects payments to a pay address that were sold from another store. */
export interface AddressWatch {
  start(): void;
  /** A sentence for each rail whose pay address another store seems to use. */
  warnings(): readonly string[];
  close(): void;
}

/** The first check waits, because it loads the chain's library, and must not delay the start. */
const FIRST_MS = 5000;
const EVERY_MS = 24 * 60 * 60_000;
/** The pause before rails are checked again whose node has not answered. */
const AGAIN_MS = 5 * 60_000;
const PATIENCE_MS = 20_000;

/**
 * When two stores share a pay address, one payment can be served twice, because each store finds it settled on the
 * chain. So a store looks for settlements that it does not know, after its start and once a day.
 */
export function createAddressWatch(deps: AddressWatchDeps): AddressWatch {
  const { rails, isKnown, log } = deps;
  const closing = new AbortController();
  const warnings = new Map<string, string>();
  let due = rails;
  const rounds = createRounds(async () => {
    const unchecked: WatchedRail[] = [];
    for (const rail of due)
      await check(rail).catch((error: unknown) => {
        unchecked.push(rail);
        if (!closing.signal.aborted) log.info("rail.address-unchecked", { rail: rail.id, error });
      });
    due = unchecked.length > 0 ? unchecked : rails;
    return unchecked.length > 0 ? AGAIN_MS : EVERY_MS;
  });

  return {
    start: () => rounds.start(FIRST_MS),
    warnings: () => [...warnings.values()],
    close() {
      closing.abort();
      void rounds.close();
    },
  };

  async function check(rail: WatchedRail): Promise<void> {
    const { id, network } = rail;
    const incoming = await rail.incoming(AbortSignal.any([closing.signal, AbortSignal.timeout(PATIENCE_MS)]));
    const known = await Promise.all(
      incoming.map(({ from, nonce }) => isKnown(`${network}:${from}:${nonce}`.toLowerCase())),
    );
    const unknown = incoming.filter((_, at) => !known[at]);
    const newest = unknown.at(-1);
    log.info("rail.address-checked", { rail: id, payments: incoming.length, unknown: unknown.length });
    if (!newest) return void warnings.delete(id);
    const warning = explain(rail, unknown.length, newest.transaction);
    warnings.set(id, warning);
    log.warn("rail.address-shared", { rail: id, transaction: newest.transaction, warning });
  }
}

const explain = ({ title, payTo }: WatchedRail, count: number, transaction: string): string =>
  `${withNoun(count, "recent payment")} of ${title} to ${payTo} ${count === 1 ? "is" : "are"} not in this ` +
  `store, the newest in ${transaction}. If it was restored from a backup, "payphone books verify" lists all that it lacks; ` +
  "if not, give each store a pay address of its own, or one payment may be served by both";
