import type { Call } from "#plugin";
import { toDecimalText } from "../../intel/amounts.ts";

/** The assets: USDC on Base or Solana, and the native coins of these chains. */
export type Asset = "USDC" | "ETH" | "SOL";

/** A transfer of value. Plain JSON, because a job step stores it. */
export interface Transfer {
  /** The same transfer has the same id in every source. */
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

/** An explorer's name and tags for an address. */
export interface Label {
  readonly address: string;
  readonly label: string;
}

/** An address's transfers from one source. */
export interface History {
  /** Oldest first. */
  readonly transfers: readonly Transfer[];
  /** What was read, in a sentence. */
  readonly coverage: string;
  /** Whether these are all transfers that the address ever had in USDC and the chain's coin. */
  readonly isWhole: boolean;
  /** Whether all that `coverage` is about was read; left out where that is the whole history. */
  readonly isCovered?: boolean;
  /** What could not be read, in sentences. The bounds of an investigation are not gaps. */
  readonly gaps: readonly string[];
  readonly labels: readonly Label[];
  /** The address's first transaction in Unix seconds; null unless the source was read back to it. */
  readonly firstSeenAt: number | null;
  /** The oldest transaction that was found, in Unix seconds; null when none was. */
  readonly oldestAt: number | null;
  /** How many transactions the address has sent; null unless the source has all of them. */
  readonly sent: number | null;
  /** How many items its lists have together; null when they are not known to the end, or the source has none. */
  readonly listed: number | null;
}

/** `subject`: as far back as the source's bounds allow; `counterparty`: only as far as the graph needs. */
export type Depth = "subject" | "counterparty";

export interface Reading {
  readonly depth: Depth;
  readonly signal: AbortSignal;
  /** Keeps a part's result under a unique name; a resumed job does not read the part again. */
  readonly step: Call["step"];
}

/** A source of transfers. @throws Problem `upstream-failed` or `unavailable` when nothing could be read; the signal's reason. */
export interface HistorySource {
  readonly title: string;
  read(address: string, reading: Reading): Promise<History>;
}

const DECIMALS: Readonly<Record<Asset, number>> = { USDC: 6, ETH: 18, SOL: 9 };

/** Atomic units as exact decimal text. */
export const toAmount = (units: bigint, asset: Asset): string => toDecimalText(units, DECIMALS[asset]);

/** Merges lists without duplicates, oldest first; ties by id. */
export function mergeTransfers(lists: readonly (readonly Transfer[])[]): Transfer[] {
  const byId = new Map(lists.flat().map((transfer) => [transfer.id, transfer]));
  return [...byId.values()].sort((one, other) => one.at - other.at || compare(one.id, other.id));
}

/** Compares by value; texts by code units, in the same order on every machine. */
export const compare = <T extends string | bigint>(one: T, other: T): number =>
  Number(one > other) - Number(one < other);
