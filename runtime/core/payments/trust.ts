import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { Store } from "../store.ts";

/**
 * Which networks' facilitators are believed. One that reports a settlement which its chain does not show is not, until the
 * chain shows it after all or a day has passed. Kept in the store for all processes.
 */
export interface FacilitatorTrust {
  /** Why a network's facilitator is not believed: a sentence; undefined while it is. Reads what is in memory. */
  reasonAgainst(network: string): string | undefined;
  /** @throws Problem `facilitator-unavailable` while the network's facilitator is not believed. */
  check(network: string): void;
  /** The chain does not show a settlement that was reported for this payment. */
  withdraw(network: string, payment: string, transaction: string): void;
  /** The chain shows it after all. */
  restore(network: string, payment: string): void;
  /** Reads the store. @throws Problem `unavailable`. */
  refresh(): Promise<void>;
}

interface Doubt {
  /** The payment's key. */
  readonly payment: string;
  readonly transaction: string;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface FacilitatorTrustDeps {
  readonly networks: readonly string[];
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after every change. */
  readonly onChange: () => void;
}

const DOUBT_MS = 24 * 60 * 60_000;
const keyOf = (network: string): string => `untrusted:${network}`;

export function createFacilitatorTrust({
  networks,
  store,
  clock,
  log,
  onChange,
}: FacilitatorTrustDeps): FacilitatorTrust {
  const doubts = new Map<string, Doubt>();
  const report = (error: unknown): void => log.error("facilitator.trust-not-kept", { error });

  const reasonAgainst = (network: string): string | undefined => {
    const doubt = doubts.get(network);
    if (!doubt || clock.now() - doubt.at >= DOUBT_MS) return undefined;
    const { transaction, at } = doubt;
    return `The facilitator reported the settlement ${transaction} at ${new Date(at).toISOString()}, and the chain does not show it`;
  };

  return {
    reasonAgainst,
    check(network) {
      const reason = reasonAgainst(network);
      if (reason) throw new Problem("facilitator-unavailable", `${reason}; nothing was charged`, { retryAfter: 60 });
    },
    withdraw(network, payment, transaction) {
      if (reasonAgainst(network)) return;
      const doubt: Doubt = { payment, transaction, at: clock.now() };
      doubts.set(network, doubt);
      log.error("facilitator.false-settlement", { network, payment, transaction });
      store.set(keyOf(network), doubt, DOUBT_MS).catch(report);
      onChange();
    },
    restore(network, payment) {
      if (doubts.get(network)?.payment !== payment) return;
      doubts.delete(network);
      log.warn("facilitator.settlement-found", { network, payment });
      store.delete(keyOf(network)).catch(report);
      onChange();
    },
    async refresh() {
      for (const network of networks) {
        const doubt = await store.get<Doubt>(keyOf(network));
        if (doubt) doubts.set(network, doubt);
        else doubts.delete(network);
      }
    },
  };
}
