import type { WireTransaction } from "./transaction.ts";

/** Passes transactions from the node to the ledger; tests can lose or delay them. */
export interface SvmMempool {
  /** Accepts a transaction that passed preflight; it lands now, later or never. */
  accept(wire: WireTransaction): void;
  /** The next `count` transactions are lost. */
  drop(count: number): void;
  /** Delays the transactions that are accepted from now on. */
  hold(): void;
  /** Lands the delayed transactions in the order of their arrival, and stops delaying. */
  release(): void;
}

/** A mempool that lands everything at once until `drop` or `hold` is called. */
export function createMempool(land: (wire: WireTransaction) => void): SvmMempool {
  let toDrop = 0;
  let waiting: WireTransaction[] | undefined;
  return {
    accept: (wire) => {
      if (toDrop > 0) toDrop -= 1;
      else if (waiting) waiting.push(wire);
      else land(wire);
    },
    drop: (count) => {
      toDrop = count;
    },
    hold: () => {
      waiting ??= [];
    },
    release: () => {
      const held = waiting ?? [];
      waiting = undefined;
      held.forEach(land);
    },
  };
}
