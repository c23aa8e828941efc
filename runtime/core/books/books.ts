import type { BookEvent, BookTally, Door, SaleEvent, SaleTimes } from "./events.ts";
import type { BookFee, FeeGroup, FeeSum } from "./fees.ts";

/** One line of the book. Refunds, reversals and restorations repeat the terms of their sale, as far as known. */
export interface BookLine extends Omit<SaleEvent, "kind" | "door" | "decimals" | "amount" | "usd" | "receiver"> {
  /** Increases from line to line of one book, by one or more. */
  readonly seq: number;
  readonly kind: BookEvent["kind"];
  /** The id of the sale that a refund, reversal or restoration refers to; null for sales, and when unknown. */
  readonly of: string | null;
  readonly door: Door | null;
  readonly decimals: number | null;
  /** Atomic units, decimal text, always positive: refunds and reversals are subtracted. */
  readonly amount: string;
  readonly usd: string | null;
  readonly receiver: string | null;
  /** Null unless the line is a sale, and always null in results of `lines`. */
  readonly times: SaleTimes | null;
}

/** Selects lines; an omitted field matches all. */
export interface LineFilter {
  /** Unix milliseconds, inclusive. */
  readonly from?: number | undefined;
  /** Unix milliseconds, exclusive. */
  readonly to?: number | undefined;
  readonly service?: string | undefined;
  readonly rail?: string | undefined;
  readonly payer?: string | undefined;
}

export interface LinePage {
  readonly limit: number;
  readonly order: "oldest-first" | "newest-first";
  /** The last line of the previous page. */
  readonly after?: Pick<BookLine, "at" | "seq"> | undefined;
}

/** A span of time: Unix milliseconds, `from` inclusive, `to` exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A dimension by which sums are split. */
export type Split = "service" | "door" | "rail";

export interface BookSum extends Pick<BookLine, "network" | "asset" | "decimals" | "kind"> {
  /** The start of the bucket: Unix milliseconds; the span's `from` when there are no buckets. */
  readonly at: number;
  /** Empty when the sums are not split by service; `door` and `rail` likewise. */
  readonly service: string;
  readonly door: string;
  readonly rail: string;
  /** Whether the payers are the seller's own wallets: such sales are not revenue. */
  readonly isOwn: boolean;
  readonly count: number;
  /** Atomic units. */
  readonly amount: bigint;
  /** Billionths of a US dollar. */
  readonly nanoUsd: bigint;
}

/** How exact sums are grouped; days are UTC. */
export type Grouping = "day" | "service" | "payer" | "all";

/** Exact sums of one asset. */
export interface BookGroup extends Omit<BookSum, "at" | "service" | "door"> {
  /** `2026-05-01`, a service's id, a payer (empty where unknown), or empty for `all`. */
  readonly group: string;
}

/** A payer's totals over the whole book. */
export interface BuyerSum {
  readonly payer: string;
  /** Unix milliseconds. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** The number of sales. */
  readonly count: number;
  readonly nanoUsd: bigint;
}

/** Sums of the tallies in a span. */
export type TallySum = Omit<BookTally, "minute">;

/** How many lines a search finds. */
export const FOUND_MOST = 200;

/**
 * Queries of the shop's book. A query blocks its thread until it is answered; methods that take only milliseconds say so.
 */
export interface Books {
  /** Loads new entries, where the book is kept elsewhere. @throws Problem `unavailable`. */
  refresh(): Promise<void>;
  lines(filter: LineFilter, page: LinePage): readonly BookLine[];
  /**
   * Lines with this id, transaction, request id or job, and lines that refer to them: at most `FOUND_MOST`, oldest first.
   * When there are more, those found only by request id, which buyers choose, are left out first.
   */
  find(text: string): readonly BookLine[];
  /** Lines after `seq`, in the order of entry: a reader that goes on from its last line sees every line once. */
  since(seq: number, limit: number): readonly BookLine[];
  /**
   * Sums over whole hours (UTC); the span is widened to whole hours. Takes milliseconds for a year in buckets of days,
   * unless own wallets buy a lot.
   * @param own the seller's own wallets, EVM addresses in lower case
   */
  sums(
    span: Span,
    options: { readonly own: readonly string[]; readonly by: readonly Split[]; readonly bucketMs?: number },
  ): readonly BookSum[];
  /** Exact sums of the lines that match a filter, by group. Reads each line: seconds per million lines. */
  groups(filter: LineFilter, options: { readonly own: readonly string[]; readonly by: Grouping }): readonly BookGroup[];
  /** The fees of the lines that fit a filter, by group. Reads each line on the networks where the treasury pays. */
  feeGroups(filter: LineFilter, by: Grouping): readonly FeeGroup[];
  /** The payers who have spent most, in descending order. */
  buyers(limit: number): readonly BuyerSum[];
  /** The number of distinct payers in a span of whole hours (UTC), without these wallets (as in `sums`). */
  countBuyers(span: Span, own: readonly string[]): number;
  /** Tallies of whole minutes, by service, door, rail and `what`. */
  tallies(span: Span): readonly TallySum[];
  /**
   * The fees that the treasury paid for the transactions of these lines, by `seq`. Of several lines with one transaction,
   * one bears its fee: the sale that the fee was paid for, otherwise the first line. A reversal has none, and no line has
   * one whose transaction somebody else sent.
   */
  fees(lines: readonly Pick<BookLine, "seq" | "network">[]): ReadonlyMap<number, BookFee>;
  /** Fees whose transaction is in no line of the book: reverted ones and anchors. Oldest first. */
  loneFees(span: Span, page: { readonly limit: number; readonly after?: BookFee | undefined }): readonly BookFee[];
  /** Sums of fees. Takes milliseconds for whole hours (UTC); for other spans, each fee is read. */
  feeSums(span: Span): readonly FeeSum[];
  close(): Promise<void>;
}
