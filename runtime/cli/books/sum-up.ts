import type { BookGroup, Books, Grouping, LineFilter } from "../../core/books/books.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Later than any line; a whole number of days. */
const FOREVER = 100_000 * DAY_MS;

export interface SumUpOptions {
  readonly own: readonly string[];
  readonly by: Grouping;
}

/** The exact sums of a filter. Prepared hourly sums are used when they fit the filter; otherwise the lines are read. */
export function sumUp(books: Books, filter: LineFilter, { own, by }: SumUpOptions): readonly BookGroup[] {
  const { from = 0, to = FOREVER, service, rail, payer } = filter;
  const isWhole = from % HOUR_MS === 0 && to % HOUR_MS === 0;
  if (payer !== undefined || by === "payer" || !isWhole) return books.groups(filter, { own, by });
  const sums = books.sums({ from, to }, { own, by: ["service", "rail"], ...(by === "day" && { bucketMs: DAY_MS }) });
  const wanted = sums.filter((sum) => (service ?? sum.service) === sum.service && (rail ?? sum.rail) === sum.rail);
  return wanted.map((sum) => ({ ...sum, group: toGroup(sum, by) }));
}

function toGroup({ at, service }: { readonly at: number; readonly service: string }, by: Grouping): string {
  if (by === "day") return new Date(at).toISOString().slice(0, 10);
  return by === "service" ? service : "";
}
