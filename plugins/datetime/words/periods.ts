import { Temporal } from "temporal-polyfill";
import { MONTH, monthOf } from "./vocabulary.ts";

/** A stretch of whole days. */
export interface Period {
  readonly first: Temporal.PlainDate;
  readonly last: Temporal.PlainDate;
}

type Form = (today: Temporal.PlainDate, ...groups: readonly (string | undefined)[]) => readonly Period[];

const RELATIVE = "this|current|next|coming|last|previous|past";
const OF_YEAR = "(?:,? ?(?:of |in )?(\\d{4}|(?:this|next|last) year))?";

const FORMS: readonly (readonly [source: string, form: Form])[] = [
  [`(?:(${RELATIVE}) )?(week|month|quarter|year)`, (today, which, unit) => [toRelative(today, which, unit)]],
  [`(?:(${RELATIVE}) )?weekend`, (today, which) => [toWeekend(toRelative(today, which, "week"))]],
  [`(${MONTH})${OF_YEAR}`, (today, name, year) => toYears(today, year).map((y) => toMonths(y, monthOf(name ?? ""), 1))],
  [`(\\d{4}) (${MONTH})`, (_, year, name) => [toMonths(Number(year), monthOf(name ?? ""), 1)]],
  [
    `(?:q([1-4])|([1-4])(?:st|nd|rd|th) quarter)${OF_YEAR}`,
    (today, q, nth, year) => toYears(today, year).map((y) => toQuarter(y, q ?? nth)),
  ],
  ["(\\d{4})[ -]?q([1-4])", (_, year, q) => [toQuarter(Number(year), q)]],
  ["(?:week|w) ?(\\d{1,2}),? (?:of )?(\\d{4})", (_, week, year) => [toWeek(Number(year), Number(week))]],
  ["(\\d{1,2})\\/(\\d{4})", (_, month, year) => [toMonths(Number(year), Number(month), 1)]],
  ["(?:year )?(\\d{4})", (_, year) => [toMonths(Number(year), 1, 12)]],
];

/** The source of a regular expression for every period; its groups have no names. */
export const PERIOD = `(?:${FORMS.map(([source]) => source).join("|")})(?![\\w:/.-])`;

const PATTERNS = FORMS.map(([source, form]) => [new RegExp(`^(?:${source})$`), form] as const);

/**
 * The periods that a text can mean: one, or, when it names no year, those of this year and the next eight.
 * @param text one that PERIOD matches. @throws RangeError when there is no such period.
 */
export function toPeriods(text: string, today: Temporal.PlainDate): readonly Period[] {
  for (const [pattern, form] of PATTERNS) {
    const match = pattern.exec(text);
    if (match) return form(today, ...match.slice(1));
  }
  return [];
}

/** The ISO week of a date, Monday first. */
export function weekOf(date: Temporal.PlainDate): Period {
  const first = date.subtract({ days: date.dayOfWeek - 1 });
  return { first, last: first.add({ days: 6 }) };
}

function toRelative(today: Temporal.PlainDate, which = "this", unit = ""): Period {
  const steps = /next|coming/.test(which) ? 1 : /last|previous|past/.test(which) ? -1 : 0;
  if (unit === "week") return weekOf(today.add({ weeks: steps }));
  const months = { month: 1, quarter: 3, year: 12 }[unit] ?? 1;
  const first = today.with({ day: 1 }).add({ months: steps * months - ((today.month - 1) % months) });
  return toMonths(first.year, first.month, months);
}

const toWeekend = ({ last }: Period): Period => ({ first: last.subtract({ days: 1 }), last });

function toYears(today: Temporal.PlainDate, year: string | undefined): readonly number[] {
  if (year === undefined) return Array.from({ length: 9 }, (_, i) => today.year + i);
  return [/^\d/.test(year) ? Number(year) : toRelative(today, year, "year").first.year];
}

function toMonths(year: number, month: number, months: number): Period {
  const first = Temporal.PlainDate.from({ year, month, day: 1 }, { overflow: "reject" });
  return { first, last: first.add({ months }).subtract({ days: 1 }) };
}

const toQuarter = (year: number, quarter: string | undefined): Period => toMonths(year, Number(quarter) * 3 - 2, 3);

function toWeek(year: number, week: number): Period {
  const { first, last } = weekOf(Temporal.PlainDate.from({ year, month: 1, day: 4 }).add({ weeks: week - 1 }));
  if (first.weekOfYear !== week) throw new RangeError(`${year} has no week ${week}`);
  return { first, last };
}
