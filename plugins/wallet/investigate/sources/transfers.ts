import { toDecimalText } from "../../intel/amounts.ts";

/** What is counted: USDC on Base or Solana, and the coins of these chains. */
export type Asset = "USDC" | "ETH" | "SOL";

/** Value that went from one address to another. JSON, so that a job's step can keep it. */
export interface Transfer {
  /** The same transfer has the same id, whichever source told of it. */
  readonly id: string;
  readonly tx: string;
  readonly from: string;
  readonly to: string;
  readonly asset: Asset;
  /** Atomic units, decimal text. */
  readonly units: string;
  /** Unix seconds. */
  readonly at: number;
}

/** What a source says about an address beside its transfers: a name, and words that it is tagged with. */
export interface Label {
  readonly address: string;
  readonly label: string;
}

/** What one source knows of an address's transfers. */
export interface History {
  /** Oldest first. */
  readonly transfers: readonly Transfer[];
  /** How much was looked at, in a sentence; and whether that is all there ever was. */
  readonly coverage: string;
  readonly isWhole: boolean;
  readonly labels: readonly Label[];
  /** The first transaction that the address took part in: Unix seconds; null when the source cannot tell. */
  readonly firstSeenAt: number | null;
}

/** `subject` is read as far back as the bounds of a source allow, `counterparty` only as far as the graph needs. */
export type Depth = "subject" | "counterparty";

/** A source of transfers. @throws Problem `upstream-failed` or `unavailable`; the signal's reason. */
export interface HistorySource {
  readonly title: string;
  read(address: string, depth: Depth, signal: AbortSignal): Promise<History>;
}

const DECIMALS: Readonly<Record<Asset, number>> = { USDC: 6, ETH: 18, SOL: 9 };

/** Exact decimal text. @param units atomic. */
export const toAmount = (units: bigint, asset: Asset): string => toDecimalText(units, DECIMALS[asset]);

/** Each transfer once, oldest first; those of one second by their ids. */
export function mergeTransfers(lists: readonly (readonly Transfer[])[]): Transfer[] {
  const byId = new Map(lists.flat().map((transfer) => [transfer.id, transfer]));
  return [...byId.values()].sort((one, other) => one.at - other.at || compareTexts(one.id, other.id));
}

/** By code units, so that every machine has the same order. */
export const compareTexts = (one: string, other: string): number => Number(one > other) - Number(one < other);
