import { sha256 } from "../digest.ts";
import { coinOf } from "../rails/networks.ts";

/** What the treasury sends transactions for. */
export type FeePurpose = "settlement" | "refund" | "anchor" | "other";

/** What a transaction was sent for. */
export interface SpentFor {
  readonly purpose: FeePurpose;
  /** The key of the payment that it settles, the hash that it anchors; left out where nothing is known. */
  readonly about?: string | undefined;
}

/** What a transaction of the treasury has cost, whether it did its work or was reverted. */
export interface BookFee {
  readonly transaction: string;
  /** CAIP-2. */
  readonly network: string;
  /** When its block was seen: Unix milliseconds. */
  readonly at: number;
  /** Atomic units of the chain's own coin, decimal text. No dollars. */
  readonly amount: string;
  /** Of the coin; `coins` where it is unknown. */
  readonly symbol: string;
  readonly decimals: number;
  readonly purpose: FeePurpose;
  readonly about: string | null;
  readonly isReverted: boolean;
}

/** A fee as it is entered in the book, once for each transaction. */
export interface FeeEvent extends BookFee {
  readonly kind: "fee";
  /** Made of the transaction. */
  readonly id: string;
}

/** Fees of a span that have the same network, coin and purpose. */
export interface FeeSum extends Pick<BookFee, "network" | "symbol" | "decimals" | "purpose" | "isReverted"> {
  readonly count: number;
  /** Atomic units. */
  readonly amount: bigint;
}

/** The id of a fee. */
export const feeId = ({ network, transaction }: Pick<BookFee, "network" | "transaction">): string =>
  `fee_${sha256(`${network} ${transaction}`).slice(0, 20)}`;

/** What is known of a transaction once it is in a block. */
export interface SpentTransaction extends SpentFor, Pick<BookFee, "transaction" | "network" | "at" | "isReverted"> {
  /** Atomic units of the chain's own coin. */
  readonly cost: bigint;
}

/** The fee of a transaction. */
export function toFee({ cost, about, ...spent }: SpentTransaction): FeeEvent {
  return { kind: "fee", id: feeId(spent), ...spent, about: about ?? null, amount: `${cost}`, ...coinOf(spent.network) };
}
