import type { WireTransaction } from "./transaction.ts";

/** The way of a transaction from the node to the ledger, with the faults that it shows now and then. */
export interface SvmMempool {
  /** Takes a transaction that passed its preflight; it lands now, later or never. */
  accept(wire: WireTransaction): void;
  /** The next `count` transactions are lost. */
  drop(count: number): void;
  /** Transactions accepted from now on wait … */
  hold(): void;
  /** … until now, when they land in the order of their arrival. */
  release(): void;
}

/** A mempool that lands everything at once, until it is told otherwise. */
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
