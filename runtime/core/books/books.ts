import type { BookEvent, BookTally, Door, SaleTimes } from "./events.ts";
import type { BookFee, FeeSum } from "./fees.ts";

/** One line of the book. A refund, a reversal and a restoration have the terms of their sale, as far as it is known. */
export interface BookLine {
  /** Grows from line to line of one book, by one or more. */
  readonly seq: number;
  readonly id: string;
  readonly kind: BookEvent["kind"];
  /** The id of the sale that a refund, a reversal or a restoration is about; null for sales, and where it is unknown. */
  readonly of: string | null;
  /** Unix milliseconds. */
  readonly at: number;
  readonly service: string;
  readonly door: Door | null;
  readonly rail: string;
  readonly network: string;
  readonly asset: string;
  readonly decimals: number | null;
  /** Atomic units, decimal text without a sign: a refund and a reversal take it off. */
  readonly amount: string;
  readonly usd: string | null;
  readonly payer: string | null;
  readonly receiver: string | null;
  readonly transaction: string;
  readonly requestId: string | null;
  readonly job: string | null;
  readonly set: string | null;
  /** Null for what is no sale, and in the answers of `lines`. */
  readonly times: SaleTimes | null;
}

/** Which lines are asked for; what is left out does not matter. */
export interface LineFilter {
  /** Unix milliseconds, inclusive. */
  readonly from?: number | undefined;
  /** Unix milliseconds, exclusive. */
  readonly to?: number | undefined;
  readonly service?: string | undefined;
  readonly rail?: string | undefined;
  readonly payer?: string | undefined;
}

/** One page of lines. */
export interface LinePage {
  readonly limit: number;
  readonly order: "oldest-first" | "newest-first";
  /** The last line of the page before. */
  readonly after?: Pick<BookLine, "at" | "seq"> | undefined;
}

/** A span of time: Unix milliseconds, `from` inclusive, `to` exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** By what sums are split. */
export type Split = "service" | "door" | "rail";

/** Sums of one asset. */
export interface BookSum {
  /** The beginning of the bucket: Unix milliseconds; the span's `from` where there are no buckets. */
  readonly at: number;
  /** Empty where it is not split by it. */
  readonly service: string;
  readonly door: string;
  readonly rail: string;
  readonly network: string;
  readonly asset: string;
  readonly decimals: number | null;
  readonly kind: BookEvent["kind"];
  /** Whether the payers are the seller's own wallets: not revenue. */
  readonly isOwn: boolean;
  readonly count: number;
  /** Atomic units. */
  readonly amount: bigint;
  /** Thousand-millionths of a US dollar. */
  readonly nanoUsd: bigint;
}

/** By what exact sums are grouped: days of UTC. */
export type Grouping = "day" | "service" | "payer" | "all";

/** Exact sums of one asset. */
export interface BookGroup extends Pick<BookSum, "kind" | "isOwn" | "count" | "amount" | "nanoUsd"> {
  /** `2026-05-01`, a service's id, a payer (empty where unknown), or empty for `all`. */
  readonly group: string;
  readonly rail: string;
  readonly network: string;
  readonly asset: string;
  readonly decimals: number | null;
}

/** A payer over the whole book. */
export interface BuyerSum {
  readonly payer: string;
  /** Unix milliseconds. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Sales. */
  readonly count: number;
  readonly nanoUsd: bigint;
}

/** Tallies of a span, summed up. */
export type TallySum = Omit<BookTally, "minute"> & {
  /** The beginning of the bucket: Unix milliseconds. */
  readonly at: number;
};

/**
 * Questions to the shop's book. Whoever may answer at once does: a question blocks its thread for as long as it takes,
 * milliseconds where it says so.
 */
export interface Books {
  /** Takes in what was entered since, where the book is kept elsewhere. @throws Problem `unavailable`. */
  refresh(): Promise<void>;
  lines(filter: LineFilter, page: LinePage): readonly BookLine[];
  /** What has this id, transaction, request id or job, and what refers to it: at most 200 lines, oldest first. */
  find(text: string): readonly BookLine[];
  /** Lines in the order in which they were entered, from `seq` on: what was seen before is not seen again. */
  since(seq: number, limit: number): readonly BookLine[];
  /**
   * Sums over whole hours (UTC): the span is widened to them. Milliseconds for a year, in buckets of days, unless own
   * wallets buy a lot.
   * @param own the seller's own wallets, EVM addresses in lower case
   */
  sums(
    span: Span,
    options: { readonly own: readonly string[]; readonly by: readonly Split[]; readonly bucketMs?: number },
  ): readonly BookSum[];
  /** Exact sums of the lines that fit a filter, by group: reads each line, which takes seconds for a million. */
  groups(filter: LineFilter, options: { readonly own: readonly string[]; readonly by: Grouping }): readonly BookGroup[];
  /** The payers who have spent most, first. */
  buyers(limit: number): readonly BuyerSum[];
  /** How many have bought in a span. Exact; counts the lines one by one. */
  countBuyers(span: Span): number;
  /** What was counted in whole minutes, by service, door, rail and what; in buckets of `bucketMs`, a whole number of minutes. */
  tallies(span: Span, options?: { readonly service?: string; readonly bucketMs?: number }): readonly TallySum[];
  /** What the treasury has paid for these transactions; most transactions are a facilitator's, and are left out. */
  fees(transactions: readonly Pick<BookFee, "network" | "transaction">[]): readonly BookFee[];
  /** Fees that belong to no line of the book: of what was reverted, of anchors. Oldest first, in any span. */
  loneFees(span: Span, page: { readonly limit: number; readonly after?: BookFee | undefined }): readonly BookFee[];
  /** Sums of fees. Milliseconds for whole hours (UTC); reads each fee of any other span. */
  feeSums(span: Span): readonly FeeSum[];
  close(): Promise<void>;
}
