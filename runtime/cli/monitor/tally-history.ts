import { setImmediate as turn } from "node:timers/promises";
import type { Books, Span, TallySum } from "../../core/books/books.ts";

/**
 * Sums of tallies over long spans. They are read day by day, and hour by hour at both ends, so that calls are served in
 * between. Days and hours that have ended are read once.
 */
export interface TallyHistory {
  /** @param span of whole hours */
  read(books: Pick<Books, "tallies">, span: Span): Promise<readonly TallySum[]>;
  /** Reads the days of the longest look ahead, so that no page waits for them. */
  warm(books: Pick<Books, "tallies">): Promise<void>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** An hour's tallies may still be written for this long after the hour's end. */
const SETTLED_MS = 2 * 60_000;
/** Twice the longest look, and some days more. */
const MOST_DAYS = 64;
const WARM_DAYS = 61;
/** Older tallies are deleted from the book. */
const KEPT_MS = 91 * DAY_MS;

export function createTallyHistory(now: () => number): TallyHistory {
  /** Tallies of days and hours that have ended, by `<d or h>:<start>`. */
  const known = new Map<string, readonly TallySum[]>();

  return {
    async read(books, { from, to }) {
      const parts: (readonly TallySum[])[] = [];
      const kept = Math.floor((now() - KEPT_MS) / DAY_MS) * DAY_MS;
      for (let at = Math.max(from, kept); at < to; ) {
        const isDay = at % DAY_MS === 0 && at + DAY_MS <= to;
        parts.push(await (isDay ? readDay(books, at) : readHour(books, at)));
        at += isDay ? DAY_MS : HOUR_MS;
      }
      return merge(parts);
    },
    async warm(books) {
      const today = Math.floor(now() / DAY_MS) * DAY_MS;
      for (let ago = 1; ago <= WARM_DAYS; ago += 1) await readDay(books, today - ago * DAY_MS);
    },
  };

  async function readDay(books: Pick<Books, "tallies">, at: number): Promise<readonly TallySum[]> {
    const kept = known.get(`d:${at}`);
    if (kept) return kept;
    await turn();
    const day = books.tallies({ from: at, to: at + DAY_MS });
    keep(`d:${at}`, at + DAY_MS, day);
    return day;
  }

  async function readHour(books: Pick<Books, "tallies">, at: number): Promise<readonly TallySum[]> {
    const kept = known.get(`h:${at}`);
    if (kept) return kept;
    await turn();
    const hour = books.tallies({ from: at, to: at + HOUR_MS });
    keep(`h:${at}`, at + HOUR_MS, hour);
    return hour;
  }

  function keep(key: string, end: number, sums: readonly TallySum[]): void {
    if (end + SETTLED_MS > now()) return;
    known.set(key, sums);
    if (known.size > MOST_DAYS + 48) known.delete(known.keys().next().value as string);
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
