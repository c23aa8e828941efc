import type { Clock } from "../../api/capabilities.ts";
import {
  type Corrections,
  correctionsKey,
  type ReversalEvent,
  reversalId,
  saleId,
  toCorrections,
} from "../books/events.ts";
import type { Store } from "../store.ts";
import { OWED_MS, UNATTENDED_MS } from "./record.ts";

export interface Corrector {
  /**
   * Corrects the book: a settlement that a facilitator has reported is doubted ("reversal"), and open again; or the chain
   * shows it after all ("restoration"). Idempotent.
   * @returns whether anything was corrected
   * @param shown by which transaction the chain shows it: a reversal takes nothing back that counts by that one already
   */
  correctSale(key: string, kind: ReversalEvent["kind"], shown?: string): Promise<boolean>;
}

/** Corrects the sales of settlements that only a facilitator has reported. */
export function createCorrector({ store, clock }: { readonly store: Store; readonly clock: Clock }): Corrector {
  return {
    async correctSale(key, kind, shown) {
      const mark = correctionsKey(key);
      const known = toCorrections(await store.get(mark));
      const isDoubted = kind === "reversal";
      if ((known.times % 2 === 1) === isDoubted) return false;
      if (isDoubted && shown !== undefined && known.times > 0 && (known.transaction ?? shown) === shown) return false;
      const sale = saleId(key);
      const times = known.times + 1;
      const transaction = isDoubted ? known.transaction : shown;
      const event = { kind, id: reversalId(kind, sale, times), at: clock.now(), sale, transaction } as const;
      const value: Corrections = { times, transaction };
      await Promise.all([
        store.enter(event, { key: mark, value, ttlMs: OWED_MS }),
        isDoubted && store.set(`open:${key}`, 1, UNATTENDED_MS), // Another process may just have struck it out.
      ]);
      return true;
    },
  };
}
