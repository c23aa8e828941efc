import { Temporal } from "temporal-polyfill";
import { MONTH, monthOf, WEEKDAY } from "../vocabulary.ts";
import { type DayRule, type NamedDay, toDay } from "./day.ts";
import { toFullYear, toYears } from "./periods.ts";

const BEFORE = "(?<![\\d:./-])(?:\\bon )?(?:\\bthe )?";
const AFTER = "(?![\\d:/-]|\\.\\d)";
const NAME = `(?<month>${MONTH})`;
const DAY = "(?<day>\\d{1,2})(?:st|nd|rd|th)?";
/** A year of two digits needs an apostrophe or a dash before it, unless it cannot be an hour. */
const YEAR = `(?:,? (?:of |in )?(?<beside>[1-9]\\d{3}(?! ?(?:hours|hrs))|(?:this|next|last) year)|,? ?'(?<short>\\d\\d)|,? (?<bare>2[5-9]|[3-9]\\d)(?! ?(?:am|pm|h|o'clock|minutes)))?${AFTER}`;

/** Dates with the name of a month, dates in digits, and days without a month. */
export const DATE_RULES: readonly DayRule[] = [
  [new RegExp(`${BEFORE}(?<year>\\d{4})-(?<number>\\d\\d)-(?<day>\\d\\d)(?:t(?=\\d\\d))?(?![\\d/-])`), toIsoDate],
  [new RegExp(`${BEFORE}${DAY}[-/]${NAME}[-/](?<year>\\d{4}|(?<short>\\d\\d))${AFTER}`), toNamedDate],
  [new RegExp(`${BEFORE}${NAME}[-/]${DAY}[-/](?<year>\\d{4}|(?<short>\\d\\d))${AFTER}`), toNamedDate],
  [new RegExp(`${BEFORE}(?<year>\\d{4})[-/]${NAME}[-/]${DAY}${AFTER}`), toNamedDate],
  [new RegExp(`${BEFORE}(?<beside>[1-9]\\d{3}),? ${NAME} (?:the )?${DAY}${AFTER}`), toNamedDate],
  [new RegExp(`${BEFORE}${DAY} ?(?:day )?(?:of )?-?${NAME}\\b${YEAR}`), toNamedDate],
  [new RegExp(`${BEFORE}(?<day>\\d{1,2})${NAME}(?<year>\\d{4})${AFTER}`), toNamedDate],
  [new RegExp(`${BEFORE}${NAME} ?-?(?:the )?${DAY}(?!:|\\.\\d| ?(?:am|pm|o'clock)\\b)${YEAR}`), toNamedDate],
  [
    new RegExp(`${BEFORE}(?<year>\\d{4})(?<mark>[./-]) ?(?<month>\\d{1,2})\\k<mark> ?(?<day>\\d{1,2})${AFTER}`),
    ({ year, month, day }) => toDay(toDate(Number(year), Number(month), Number(day))),
  ],
  [
    new RegExp(`${BEFORE}(?<one>\\d{1,2})(?<mark>[./-]) ?(?<two>\\d{1,2})\\k<mark> ?(?<year>\\d{4}|\\d\\d)${AFTER}`),
    ({ one = "", two = "", mark = "", year = "" }) => {
      const { month, day, assumptions } = toMonthAndDay(Number(one), Number(two), mark);
      return toDay(toDate(toFullYear(year), month, day), ...assumptions, ...aboutCentury(year));
    },
  ],
  [
    new RegExp(`${BEFORE}(?<one>\\d{1,2})\\/(?<two>\\d{1,2})${AFTER}`),
    ({ one, two }, today) => {
      const { month, day, assumptions } = toMonthAndDay(Number(one), Number(two), "/");
      return toNext(
        toYears(today, undefined).map((year) => ({ year, month, day })),
        assumptions,
      );
    },
  ],
  [
    new RegExp(
      `\\b(?:on )?(?:the )(?<day>\\d{1,2})(?:st|nd|rd|th)\\b(?! (?:(?:of )?${MONTH}|(?:day )?of|last|quarter|half|${WEEKDAY}\\b))`,
    ),
    ({ day }, today) => {
      const months = Array.from({ length: 12 }, (_, i) => today.with({ day: 1 }).add({ months: i }));
      return toNext(months.map(({ year, month }) => ({ year, month, day: Number(day) })));
    },
  ],
];

interface YearMonthDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

function toIsoDate({ year, number, day }: Readonly<Record<string, string>>): NamedDay {
  return toDay(toDate(Number(year), Number(number), Number(day)));
}

function toNamedDate(groups: Readonly<Record<string, string>>, today: Temporal.PlainDate): NamedDay | undefined {
  const [month, day] = [monthOf(groups.month ?? ""), Number(groups.day)];
  const short = groups.short ?? groups.bare;
  if (short !== undefined) return toDay(toDate(toFullYear(short), month, day), ...aboutCentury(short));
  const years = toYears(today, groups.year ?? groups.beside);
  if (years.length === 1) return toDay(toDate(years[0] as number, month, day), ...aboutTime(groups.beside));
  return toNext(years.map((year) => ({ year, month, day })));
}

const aboutCentury = (digits: string): string[] =>
  digits.length === 4 ? [] : [`The year '${digits} is taken as ${toFullYear(digits)}`];

/** Before 1900 a year beside a day can as well be a time: "March 5 1530". */
const aboutTime = (year = ""): string[] =>
  /^1[0-8][0-5]\d$/.test(year) ? [`${year} is read as a year, not as a time of day`] : [];

/**
 * Dates with dots have the day first (Europe), with slashes or dashes the month first (America), unless that is
 * impossible.
 */
function toMonthAndDay(one: number, two: number, mark: string) {
  const isDayFirst = mark === "." ? two <= 12 : one > 12;
  const isGuess = one <= 12 && two <= 12 && one !== two;
  const assumptions = isGuess ? [`${one}${mark}${two} is read with the ${isDayFirst ? "day" : "month"} first`] : [];
  return isDayFirst ? { month: two, day: one, assumptions } : { month: one, day: two, assumptions };
}

const toDate = (year: number, month: number, day: number): Temporal.PlainDate =>
  Temporal.PlainDate.from({ year, month, day }, { overflow: "reject" });

/** The days that exist; the first one that is not over is meant. @throws RangeError when none exists. */
function toNext(days: readonly YearMonthDay[], assumptions: readonly string[] = []): NamedDay {
  const isReal = ({ year, month, day }: YearMonthDay): boolean =>
    month > 0 && month <= 12 && day > 0 && day <= Temporal.PlainYearMonth.from({ year, month }).daysInMonth;
  const dates = days.filter(isReal).map(({ year, month, day }) => toDate(year, month, day));
  if (dates.length === 0) throw new RangeError("there is no such day");
  return { dates, assumptions: [...assumptions, "The next such date that is not over is taken"] };
}
