const DAY_MS = 24 * 60 * 60_000;

/** Tallies are for looking at the last weeks; sales are kept for ever unless the site says otherwise. */
const TALLY_DAYS = 90;

/** Before when lines of a book are forgotten: Unix milliseconds; 0 for never. @param books of `_site.yaml` */
export const forgetBefore = (books: { readonly keep_days?: number } | undefined, now: number): number =>
  books?.keep_days === undefined ? 0 : now - books.keep_days * DAY_MS;

/** Before when tallies are forgotten: minutes since the Unix epoch. */
export const forgetTalliesBefore = (now: number): number => Math.floor((now - TALLY_DAYS * DAY_MS) / 60_000);

/** What a book forgets. */
export interface Forgotten {
  /** Lines before: Unix milliseconds; 0 for none. */
  readonly before: number;
  /** Tallies before: minutes since the Unix epoch. */
  readonly tallyMinute: number;
}

/** What a book forgets now. @param books of `_site.yaml` */
export const toForget = (books: Parameters<typeof forgetBefore>[0], now: number): Forgotten => ({
  before: forgetBefore(books, now),
  tallyMinute: forgetTalliesBefore(now),
});
