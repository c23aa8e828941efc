import { Temporal } from "temporal-polyfill";
import { MONTH, monthOf } from "../vocabulary.ts";

/** A range of whole days, both ends included. */
export interface DayRange {
  readonly first: Temporal.PlainDate;
  readonly last: Temporal.PlainDate;
}

type Form = (today: Temporal.PlainDate, ...groups: readonly (string | undefined)[]) => readonly DayRange[];

const RELATIVE = "this|the|current|next|coming|following|upcoming|last|previous|past";
const OF_YEAR = "(?:,? ?(?:of |in )?([1-9]\\d{3}|'\\d\\d|(?:this|next|last) year))?";
const WEEK = "(?:(?:(?:calendar|iso) )?week|w|cw|kw|wk) ?(\\d{1,2})(?:,? (?:of )?(\\d{4}))?";
/** How many years ahead a date without a year is looked for: a leap day can be eight years away. */
const YEARS_AHEAD = 8;

const FORMS: readonly (readonly [source: string, form: Form])[] = [
  ["(week|month|quarter|year) after next", (today, unit) => [toRelative(today, 2, unit)]],
  ["(week|month|quarter|year) before last", (today, unit) => [toRelative(today, -2, unit)]],
  ["weekend after next", (today) => [toWeekend(toRelative(today, 2, "week"))]],
  [
    `(?:(${RELATIVE}) )?(?:calendar )?(week|month|quarter|year)`,
    (today, which, unit) => [toRelative(today, toSteps(which), unit)],
  ],
  [`(?:(${RELATIVE}) )?weekend`, (today, which) => [toWeekend(toRelative(today, toSteps(which), "week"))]],
  [`(this|next|last) (${MONTH})`, (today, which, name) => [toNamedMonth(today, which, monthOf(name ?? ""))]],
  [`(${MONTH})${OF_YEAR}`, (today, name, year) => toYears(today, year).map((y) => toMonths(y, monthOf(name ?? ""), 1))],
  [`(\\d{4}) (${MONTH})`, (_, year, name) => [toMonths(Number(year), monthOf(name ?? ""), 1)]],
  [
    `(?:q([1-4])|([1-4])(?:st|nd|rd|th) quarter)${OF_YEAR}`,
    (today, q, nth, year) => toYears(today, year).map((y) => toQuarter(y, q ?? nth)),
  ],
  ["(\\d{4})[ -]?q([1-4])", (_, year, q) => [toQuarter(Number(year), q)]],
  [
    `(?:h([12])|([12])(?:st|nd|th) half)${OF_YEAR}`,
    (today, h, nth, year) => toYears(today, year).map((y) => toMonths(y, Number(h ?? nth) * 6 - 5, 6)),
  ],
  [WEEK, (today, week, year) => toYears(today, year).flatMap((y) => toWeek(y, Number(week), year !== undefined))],
  ["(\\d{1,2})\\/(\\d{4})", (_, month, year) => [toMonths(Number(year), Number(month), 1)]],
  ["(?:the )?(?:year )?([1-9]\\d{3})", (_, year) => [toMonths(Number(year), 1, 12)]],
];

const END = "(?![\\w:/.-])";
/** The source of a regular expression for every period; its groups have no names. */
export const PERIOD = `(?:${FORMS.map(([source]) => source).join("|")})${END}`;
/** The same for the weeks that have numbers. */
export const NUMBERED_WEEK = `(?:${WEEK})${END}`;

const PATTERNS = FORMS.map(([source, form]) => [new RegExp(`^(?:${source})$`), form] as const);

/**
 * The periods that a text can mean: one, or, without a year, those of this year and the next eight.
 * @param text one that PERIOD matches. @throws RangeError when there is no such period.
 */
export function toPeriods(text: string, today: Temporal.PlainDate): readonly DayRange[] {
  for (const [pattern, form] of PATTERNS) {
    const match = pattern.exec(text);
    if (match) return form(today, ...match.slice(1));
  }
  return [];
}

/** The ISO week of a date, Monday first. */
export function weekOf(date: Temporal.PlainDate): DayRange {
  const first = date.subtract({ days: date.dayOfWeek - 1 });
  return { first, last: first.add({ days: 6 }) };
}

/** The years that a text can mean: the named one, or this year and the next eight. @param year `2027`, `'27`, `next year`. */
export function toYears(today: Temporal.PlainDate, year: string | undefined): readonly number[] {
  if (year === undefined) return Array.from({ length: YEARS_AHEAD + 1 }, (_, i) => today.year + i);
  if (year.startsWith("'")) return [toFullYear(year.slice(1))];
  return [/^\d/.test(year) ? Number(year) : today.year + toSteps(year.split(" ")[0])];
}

/** 70 to 99 are of the last century. @param digits two or four. */
export const toFullYear = (digits: string): number =>
  digits.length === 4 ? Number(digits) : Number(digits) + (Number(digits) < 70 ? 2000 : 1900);

/** How many periods away: 1 for next, -1 for last. */
export const toSteps = (which = "this"): number =>
  /next|coming|following/.test(which) ? 1 : /last|previous|past/.test(which) ? -1 : 0;

function toRelative(today: Temporal.PlainDate, steps: number, unit = ""): DayRange {
  if (unit === "week") return weekOf(today.add({ weeks: steps }));
  const months = { month: 1, quarter: 3, year: 12 }[unit] ?? 1;
  const first = today.with({ day: 1 }).add({ months: steps * months - ((today.month - 1) % months) });
  return toMonths(first.year, first.month, months);
}

/** "Next March" is the first one after this month, "last March" the last one before it, "this March" this year's. */
function toNamedMonth(
  { year, month: current }: Temporal.PlainDate,
  which: string | undefined,
  month: number,
): DayRange {
  if (which === "this") return toMonths(year, month, 1);
  return toMonths(which === "next" ? year + Number(month <= current) : year - Number(month >= current), month, 1);
}

const toWeekend = ({ last }: DayRange): DayRange => ({ first: last.subtract({ days: 1 }), last });

function toMonths(year: number, month: number, months: number): DayRange {
  const first = Temporal.PlainDate.from({ year, month, day: 1 }, { overflow: "reject" });
  return { first, last: first.add({ months }).subtract({ days: 1 }) };
}

const toQuarter = (year: number, quarter: string | undefined): DayRange => toMonths(year, Number(quarter) * 3 - 2, 3);

function toWeek(year: number, week: number, isCertain: boolean): DayRange[] {
  const { first, last } = weekOf(Temporal.PlainDate.from({ year, month: 1, day: 4 }).add({ weeks: week - 1 }));
  if (first.weekOfYear === week) return [{ first, last }];
  if (isCertain) throw new RangeError(`${year} has no week ${week}`);
  return [];
}
