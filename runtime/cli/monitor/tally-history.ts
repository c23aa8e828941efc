import { setImmediate as turn } from "node:timers/promises";
import type { Books, Span, TallySum } from "../../core/books/books.ts";

/**
 * Sums of tallies over long spans. They are read day by day, and the hours before and after them at once, so that calls are
 * served in between. What ended a day ago is read once.
 */
export interface TallyHistory {
  /** @param span of whole hours */
  read(books: Pick<Books, "tallies">, span: Span): Promise<readonly TallySum[]>;
  /** Reads the days of the longest look ahead, so that no page waits for them. */
  warm(books: Pick<Books, "tallies">): Promise<void>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Tallies may be written for this long after their time: they wait while the store takes no writes. Clocks are set back, too. */
const SETTLED_MS = DAY_MS;
/** Twice the longest look, and the hours around it for a day. */
const MOST_PARTS = 112;
const WARM_DAYS = 61;
/** Older tallies are deleted from the book. */
const KEPT_MS = 91 * DAY_MS;

export function createTallyHistory(now: () => number): TallyHistory {
  /** Tallies of days, and of hours around them, that have settled, by `<from>-<to>`. */
  const known = new Map<string, readonly TallySum[]>();

  return {
    async read(books, { from, to }) {
      const parts: (readonly TallySum[])[] = [];
      const kept = Math.floor((now() - KEPT_MS) / DAY_MS) * DAY_MS;
      for (let at = Math.max(from, kept); at < to; ) {
        const midnight = Math.floor(at / DAY_MS) * DAY_MS + DAY_MS;
        const end = Math.min(midnight, to);
        parts.push(await readPart(books, { from: at, to: end }));
        at = end;
      }
      return merge(parts);
    },
    async warm(books) {
      const today = Math.floor(now() / DAY_MS) * DAY_MS;
      for (let ago = 1; ago <= WARM_DAYS; ago += 1) {
        const from = today - ago * DAY_MS;
        await readPart(books, { from, to: from + DAY_MS });
      }
    },
  };

  /** @param span within one day */
  async function readPart(books: Pick<Books, "tallies">, span: Span): Promise<readonly TallySum[]> {
    const key = `${span.from}-${span.to}`;
    const kept = known.get(key);
    if (kept) return kept;
    await turn();
    const sums = books.tallies(span);
    if (span.to + SETTLED_MS <= now()) known.set(key, sums);
    if (known.size > MOST_PARTS) known.delete(known.keys().next().value as string);
    return sums;
  }
}

/** One sum for each name. */
function merge(parts: readonly (readonly TallySum[])[]): readonly TallySum[] {
  const sums = new Map<string, { -readonly [Key in keyof TallySum]: TallySum[Key] }>();
  for (const { service, door, rail, what, count } of parts.flat()) {
    const key = `${door} ${rail} ${what} ${service}`;
    const sum = sums.get(key);
    if (sum) sum.count += count;
    else sums.set(key, { service, door, rail, what, count });
  }
  return [...sums.values()];
}
