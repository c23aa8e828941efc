const DAY_MS = 24 * 60 * 60_000;

/** Tallies are kept for 90 days; sales are kept for ever unless the site sets `keep_days`. */
const TALLY_DAYS = 90;

/**
 * Lines before this time are deleted: Unix milliseconds; 0 for never. Whole days (UTC), since the sums of a day are deleted
 * as a whole. @param books of `_site.yaml`
 */
export const forgetBefore = (books: { readonly keep_days?: number } | undefined, now: number): number =>
  books?.keep_days === undefined ? 0 : Math.floor(now / DAY_MS - books.keep_days) * DAY_MS;

/** Tallies before this time are deleted: minutes since the Unix epoch. */
export const forgetTalliesBefore = (now: number): number => Math.floor((now - TALLY_DAYS * DAY_MS) / 60_000);

/** The limits for deleting from a book. */
export interface Forgotten {
  /** Lines before this time: Unix milliseconds; 0 for none. */
  readonly before: number;
  /** Tallies before this time: minutes since the Unix epoch. */
  readonly tallyMinute: number;
}

/** The limits for deleting now. @param books of `_site.yaml` */
export const toForget = (books: Parameters<typeof forgetBefore>[0], now: number): Forgotten => ({
  before: forgetBefore(books, now),
  tallyMinute: forgetTalliesBefore(now),
});
