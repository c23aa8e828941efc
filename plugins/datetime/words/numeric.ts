import { Temporal } from "temporal-polyfill";
import type { DayRule, NamedDay } from "./named-day.ts";
import { MONTH } from "./vocabulary.ts";

const ALONE_BEFORE = "(?<![\\d:./-])";
const ALONE_AFTER = "(?![\\d:./-])";
const YEARS_AHEAD = 8;

/** Dates of figures alone, and days of the month without their month. */
export const NUMERIC_RULES: readonly DayRule[] = [
  [
    new RegExp(`${ALONE_BEFORE}(?<year>\\d{4})(?<mark>[./-])(?<month>\\d{1,2})\\k<mark>(?<day>\\d{1,2})${ALONE_AFTER}`),
    ({ year, month, day }) => ({ date: toDate(Number(year), Number(month), Number(day)), confidence: "medium" }),
  ],
  [
    new RegExp(
      `${ALONE_BEFORE}(?<one>\\d{1,2})(?<mark>[./-])(?<two>\\d{1,2})\\k<mark>(?<year>\\d{4}|\\d\\d)${ALONE_AFTER}`,
    ),
    ({ one = "", two = "", mark = "", year = "" }) => {
      const { month, day, isGuess } = toMonthAndDay(Number(one), Number(two), mark);
      const date = toDate(toYear(year), month, day);
      return { date, confidence: isGuess || year.length === 2 ? "low" : "medium" };
    },
  ],
  [
    new RegExp(`${ALONE_BEFORE}(?<one>\\d{1,2})\\/(?<two>\\d{1,2})${ALONE_AFTER}`),
    ({ one, two }, today) => {
      const { month, day } = toMonthAndDay(Number(one), Number(two), "/");
      const dates = Array.from({ length: YEARS_AHEAD + 1 }, (_, i) => ({ year: today.year + i, month, day }));
      return firstFrom(today, dates);
    },
  ],
  [
    new RegExp(`\\b(?:on )?the (?<day>\\d{1,2})(?:st|nd|rd|th)\\b(?! (?:of )?${MONTH})`),
    ({ day }, today) => {
      const months = Array.from({ length: 12 }, (_, i) => today.with({ day: 1 }).add({ months: i }));
      return firstFrom(
        today,
        months.map(({ year, month }) => ({ year, month, day: Number(day) })),
      );
    },
  ],
];

/** Dots are read as in Europe, strokes as in America unless that is impossible; a guess where both could be. */
function toMonthAndDay(one: number, two: number, mark: string): { month: number; day: number; isGuess: boolean } {
  const isDayFirst = mark === "." ? two <= 12 : one > 12;
  const isGuess = one <= 12 && two <= 12 && one !== two;
  return isDayFirst ? { month: two, day: one, isGuess } : { month: one, day: two, isGuess };
}

const toDate = (year: number, month: number, day: number): Temporal.PlainDate =>
  Temporal.PlainDate.from({ year, month, day }, { overflow: "reject" });

/** 70 to 99 are of the last century. */
const toYear = (digits: string): number =>
  digits.length === 4 ? Number(digits) : Number(digits) + (Number(digits) < 70 ? 2000 : 1900);

/** The first of these days that exists and is not over. */
function firstFrom(
  today: Temporal.PlainDate,
  days: readonly { readonly year: number; readonly month: number; readonly day: number }[],
): NamedDay | undefined {
  for (const { year, month, day } of days) {
    const isReal =
      month <= 12 && month > 0 && day > 0 && day <= Temporal.PlainYearMonth.from({ year, month }).daysInMonth;
    const date = isReal ? toDate(year, month, day) : undefined;
    if (date && Temporal.PlainDate.compare(date, today) >= 0) return { date, confidence: "low" };
  }
  return undefined;
}
