import type { Span } from "../../../core/books/books.ts";

const HOUR_MS = 3_600_000;
export const LOOK_DAY_MS: number = 24 * HOUR_MS;

/** The numbers of days that a page may show. */
const DAYS = [1, 7, 30] as const;
const MONTH = /^20\d\d-(?:0[1-9]|1[0-2])$/;

/**
 * The span that a page shows (whole hours up to the current one, or a month), and the span that it is compared with.
 */
export interface Look {
  /** The look as a query string: `days=7`, `month=2026-05`. */
  readonly query: string;
  readonly span: Span;
  readonly before: Span;
  /** In words: `in the last 24 hours`, `in May 2026`. */
  readonly words: string;
  readonly beforeWords: string;
  /** Whether a chart has a point for each day instead of each hour. */
  readonly byDay: boolean;
}

/** Reads the look from a query; by default the last 24 hours. Months are in UTC. */
export function toLook(query: Pick<URLSearchParams, "get">, now: number): Look {
  const month = query.get("month") ?? "";
  const to = Math.ceil(now / HOUR_MS) * HOUR_MS;
  if (MONTH.test(month) && toMonth(month).from < now) {
    const { from, to: end } = toMonth(month);
    const before = toMonth(monthOf(from - 1));
    const [words, beforeWords] = [from, before.from].map((at) => `in ${nameOf(at)}`) as [string, string];
    return { query: `month=${month}`, span: { from, to: Math.min(to, end) }, before, words, beforeWords, byDay: true };
  }
  const days = DAYS.find((each) => String(each) === query.get("days")) ?? 1;
  const from = to - days * LOOK_DAY_MS;
  return {
    query: `days=${days}`,
    span: { from, to },
    before: { from: from - days * LOOK_DAY_MS, to: from },
    words: days === 1 ? "in the last 24 hours" : `in the last ${days} days`,
    beforeWords: days === 1 ? "the day before" : `the ${days} days before`,
    byDay: days > 1,
  };
}

/** The looks that a page links to. */
export function offeredLooks({ query, span }: Look, now: number): readonly { query: string; name: string }[] {
  const months = [monthOf(now), monthOf(toMonth(monthOf(now)).from - 1)];
  if (query.startsWith("month=") && !months.includes(monthOf(span.from))) months.push(monthOf(span.from));
  return [
    ...DAYS.map((days) => ({ query: `days=${days}`, name: days === 1 ? "24 hours" : `${days} days` })),
    ...months.map((month) => ({ query: `month=${month}`, name: nameOf(toMonth(month).from) })),
  ];
}

/** `2026-05`. */
const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7);

function toMonth(month: string): Span {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return { from: Date.UTC(year, number - 1), to: Date.UTC(year, number) };
}

const nameOf = (at: number): string =>
  new Date(at).toLocaleDateString("en-US", { timeZone: "UTC", month: "long", year: "numeric" });
