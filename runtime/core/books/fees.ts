import { sha256 } from "../digest.ts";
import { coinOf } from "../rails/networks.ts";

/** Why the treasury sends a transaction. */
export type FeePurpose = "settlement" | "refund" | "anchor" | "other";

/** The reason for a transaction. */
export interface SpentFor {
  readonly purpose: FeePurpose;
  /** The key of the settled payment, or the anchored hash; omitted when unknown. */
  readonly about?: string | undefined;
}

/** The fee of a transaction of the treasury, successful or reverted. */
export interface BookFee {
  readonly transaction: string;
  /** CAIP-2. */
  readonly network: string;
  /** When its block was seen: Unix milliseconds. */
  readonly at: number;
  /** Atomic units of the chain's native coin, decimal text; not in dollars. */
  readonly amount: string;
  /** The native coin's symbol; `coins` when unknown. */
  readonly symbol: string;
  readonly decimals: number;
  readonly purpose: FeePurpose;
  readonly about: string | null;
  readonly isReverted: boolean;
}

/** A fee as an entry of the book, one per transaction. */
export interface FeeEvent extends BookFee {
  readonly kind: "fee";
  /** Derived from the transaction. */
  readonly id: string;
}

/** The sum of fees with equal network, coin and purpose. */
export interface FeeSum extends Pick<BookFee, "network" | "symbol" | "decimals" | "purpose" | "isReverted"> {
  readonly count: number;
  /** Atomic units. */
  readonly amount: bigint;
}

/** Fees of one coin, of the lines of a group. */
export interface FeeGroup extends Pick<BookFee, "network" | "symbol" | "decimals"> {
  /** As in `BookGroup`. */
  readonly group: string;
  /** Atomic units. */
  readonly amount: bigint;
}

export const feeId = ({ network, transaction }: Pick<BookFee, "network" | "transaction">): string =>
  `fee_${sha256(`${network} ${transaction}`).slice(0, 20)}`;

/** The data of a transaction that is in a block. */
export interface SpentTransaction extends SpentFor, Pick<BookFee, "transaction" | "network" | "at" | "isReverted"> {
  /** Atomic units of the chain's native coin. */
  readonly cost: bigint;
}

/** The fee entry of a transaction. */
export function toFee({ cost, about, ...spent }: SpentTransaction): FeeEvent {
  return { kind: "fee", id: feeId(spent), ...spent, about: about ?? null, amount: `${cost}`, ...coinOf(spent.network) };
}
