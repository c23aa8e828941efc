import { Temporal } from "temporal-polyfill";
import { checkWeekday } from "../reading.ts";
import { MONTH, takeMatch, WEEKDAY, weekdayOf } from "../vocabulary.ts";
import { BUSINESS_DAY_RULES } from "./business-days.ts";
import { DATE_RULES } from "./dates.ts";
import { type DayRule, explainClamp, type Groups, type NamedDay, type ReadAnchor, toDay } from "./day.ts";
import { HOLIDAY_RULES } from "./holidays.ts";
import { type DayRange, NUMBERED_WEEK, PERIOD, toPeriods, weekOf } from "./periods.ts";
import { BARE_WEEKDAY_RULE, WEEKDAY_BESIDE_RULE, WEEKDAY_RULES } from "./weekdays.ts";

const NTH = "(?:(?<nth>\\d{1,3})(?:st|nd|rd|th)|(?<fromEnd>\\d)-last|last)";
const DAY_NUMBER = "(?:the )?(?<nth>\\d{1,2})(?:st|nd|rd|th)";
const MONTH_NAMED = "(?<period>(?:this|next|last) month)";
const LEAD = "(?:(?:on|in|at|during|by) )?(?:the )?";
const OF_PERIOD = `(?:of|in) (?:the )?(?<period>${PERIOD})`;
const EDGE = "(?<edge>start|beginning|end|middle|mid)";
/** The beginning of a date with a day. */
const DATE = `(?:${MONTH} (?:the )?\\d{1,2}(?!\\d)|\\d{1,2}(?:st|nd|rd|th)? (?:of )?${MONTH}\\b|\\d+[./-]\\d+[./-]?)`;
const SHIFTS: Readonly<Record<string, number>> = { day: 0, today: 0, tomorrow: 1, yesterday: -1 };
const SAME_DAY: Readonly<Record<string, number>> = { next: 1, last: -1 };

/** In the order in which they are tried. */
const RULES: readonly DayRule[] = [
  ...BUSINESS_DAY_RULES,
  WEEKDAY_BESIDE_RULE,
  [
    new RegExp(`\\b${LEAD}${NTH} (?<weekday>${WEEKDAY}) ${OF_PERIOD}`),
    (groups, today) => pickDay(groups, today, nthWeekday),
  ],
  [
    new RegExp(
      `\\b${LEAD}(?:(?<weekday>${WEEKDAY}),? (?:(?:of|in) )?(?:the )?(?<period>${NUMBERED_WEEK})|(?<period>${NUMBERED_WEEK}),? (?:on )?(?<weekday>${WEEKDAY})\\b)`,
    ),
    (groups, today) => pickDay({ ...groups, nth: "1" }, today, nthWeekday),
  ],
  [
    new RegExp(
      `\\b${LEAD}(?:(?<weekday>${WEEKDAY}) (?:of|in) (?:the )?)?week (?<start>of|beginning|commencing|starting) (?:on )?(?:the )?(?<anchor>${DATE}.*)$`,
    ),
    toWeekOf,
  ],
  [new RegExp(`\\b${LEAD}${NTH} day ${OF_PERIOD}`), (groups, today) => pickDay(groups, today, nthDay)],
  [new RegExp(`\\b${LEAD}day (?<nth>\\d{1,3}) ${OF_PERIOD}`), (groups, today) => pickDay(groups, today, nthDay)],
  [new RegExp(`\\b${LEAD}${DAY_NUMBER} ${OF_PERIOD}`), (groups, today) => pickDay(groups, today, dayOfMonth)],
  [new RegExp(`\\b${LEAD}${DAY_NUMBER},? ${MONTH_NAMED}\\b`), (groups, today) => pickDay(groups, today, nthDay)],
  [new RegExp(`\\b${MONTH_NAMED},? (?:on )?${DAY_NUMBER}\\b`), (groups, today) => pickDay(groups, today, nthDay)],
  [
    new RegExp(`\\b${LEAD}${EDGE}(?: of (?:the )?|[ -])(?<period>${PERIOD})`),
    (groups, today) => pickDay(groups, today, edge),
  ],
  [
    new RegExp(`\\b${LEAD}(?<edge>start|beginning|end) of (?<day>today|tomorrow|yesterday)\\b`),
    ({ edge, day = "" }, today) => ({ dates: [today.add({ days: SHIFTS[day] ?? 0 })], isEnd: edge === "end" }),
  ],
  ...HOLIDAY_RULES,
  ...DATE_RULES.slice(0, -1),
  ...WEEKDAY_RULES,
  ...DATE_RULES.slice(-1),
  [/\b(?:this day|today|this date|the same day|same day),? (?<which>next|last) (?<unit>week|month|year)\b/, toSameDay],
  [/\b(?<which>next|last) (?<unit>week|month|year) (?:today|on this day|same day)\b/, toSameDay],
  [/\b(?:the )?(?:next|following) day\b/, (_, today) => toDay(today.add({ days: 1 }))],
  [/\b(?:the )?previous day\b/, (_, today) => toDay(today.subtract({ days: 1 }))],
  [/\b(?:later|earlier) today\b(?=.*◇)|(?<=◇.*)\b(?:later|earlier) today\b/, (_, today) => toDay(today)],
  [/\b(?<day>today|tomorrow) week\b/, ({ day = "" }, today) => toDay(today.add({ weeks: 1, days: SHIFTS[day] ?? 0 }))],
  [
    /(?<!\b(?:later|earlier) )\b(?<day>today|tomorrow|yesterday)\b/,
    ({ day = "" }, today) => toDay(today.add({ days: SHIFTS[day] ?? 0 })),
  ],
  BARE_WEEKDAY_RULE,
  [new RegExp(`^${LEAD}(?!(?:week|weekend|month|quarter|year)$)(?<period>${PERIOD})$`), toFirstDay],
];

/**
 * Takes the day out of a text. A weekday beside it must agree with it, and chooses among several dates.
 * @throws Problem `unparseable-input`; RangeError when there is no such day.
 */
export function takeDay(
  text: string,
  today: Temporal.PlainDate,
  readAnchor: ReadAnchor,
): { readonly day: NamedDay | undefined; readonly rest: string } {
  for (const [pattern, read] of RULES) {
    const match = pattern.exec(text);
    const day = match && read(match.groups ?? {}, today, readAnchor);
    if (day) return withWeekday(day, takeMatch(text, match));
  }
  return { day: undefined, rest: text };
}

const BESIDE = new RegExp(
  `(?:\\bon )?\\b(?<before>${WEEKDAY}),? (?:the )?◇|◇,? (?:\\(|on )?(?<after>${WEEKDAY})\\b\\)?`,
);

function withWeekday(day: NamedDay, rest: string) {
  const match = BESIDE.exec(rest);
  const { before, after } = match?.groups ?? {};
  const name = before ?? after;
  if (!match || name === undefined) return { day, rest };
  const dates = day.dates.filter(({ dayOfWeek }) => dayOfWeek === weekdayOf(name));
  if (dates.length === 0) checkWeekday(day.dates[0] as Temporal.PlainDate, weekdayOf(name)); // No day has no dates.
  const [only] = dates;
  const { year: last = 0 } = day.dates.at(-1) ?? {};
  // The days of several years; "on the 3rd" is one of twelve months.
  const isTold = only !== undefined && dates.length === 1 && last > (day.dates[0]?.year ?? 0) + 1;
  const told = isTold && { assumptions: toYearTold(day, only) };
  return { day: { ...day, dates, ...told }, rest: takeMatch(rest, match) };
}

/** A date without a year may be over where the weekday leaves one year alone. */
const toYearTold = ({ assumptions = [] }: NamedDay, { year }: Temporal.PlainDate): readonly string[] => [
  ...assumptions.filter((each) => !/^The next .* that is not over is taken$/.test(each)),
  `The weekday fits ${year} alone, of this year and the next eight`,
];

/** "Today next month". */
function toSameDay({ which = "", unit = "" }: Groups, today: Temporal.PlainDate): NamedDay {
  const step = { [`${unit}s`]: SAME_DAY[which] ?? 0 };
  return toDay(today.add(step), ...explainClamp(today, step));
}

/** "The week of March 8" has a Monday first, and the week commencing a day that day. */
function toWeekOf(
  { weekday, start, anchor = "" }: Groups,
  _today: Temporal.PlainDate,
  readAnchor: ReadAnchor,
): NamedDay {
  const { at, assumptions } = readAnchor(anchor);
  const first = start === "of" ? weekOf(at.toPlainDate()).first : at.toPlainDate();
  if (weekday === undefined) return toDay(first, ...assumptions, "The first day of the period is taken");
  return toDay(first.add({ days: (weekdayOf(weekday) - first.dayOfWeek + 7) % 7 }), ...assumptions);
}

type Pick = (period: DayRange, groups: Groups) => Temporal.PlainDate | undefined;

/** The day of the period that is meant. Without a year, it is in the first period in which it is not over. */
function pickDay(groups: Groups, today: Temporal.PlainDate, pick: Pick): NamedDay {
  const { period = "" } = groups;
  const periods = toPeriods(period, today);
  const dates = periods.map((each) => pick(each, groups)).filter((day) => day !== undefined);
  if (dates.length === 0) throw new RangeError(`there is no such day in ${period}`);
  const isEnd = groups.edge === "end";
  const middle = /^mid/.test(groups.edge ?? "") ? ["The middle of a period is taken as its day in the middle"] : [];
  const week = isEnd && /week/.test(period) ? ["Weeks are taken to end on Sunday"] : [];
  return { dates, isEnd, assumptions: [...middle, ...week, ...explainOpen(periods)] };
}

/** The first day of a period alone. Without a year, it is of the first period that is not over, so that it can be past. */
function toFirstDay({ period = "" }: Groups, today: Temporal.PlainDate): NamedDay {
  const periods = toPeriods(period, today);
  const meant = periods.find(({ last }) => Temporal.PlainDate.compare(last, today) >= 0) ?? periods[0];
  if (!meant) throw new RangeError(`there is no ${period}`);
  return toDay(meant.first, "The first day of the period is taken", ...explainOpen(periods));
}

const explainOpen = (periods: readonly DayRange[]): readonly string[] =>
  periods.length > 1 ? ["The next one that is not over is taken"] : [];

const edge: Pick = ({ first, last }, groups) => {
  if (groups.edge === "end") return last;
  return /^mid/.test(groups.edge ?? "") ? first.add({ days: Math.floor(first.until(last).days / 2) }) : first;
};

const nthDay: Pick = (period, { nth, fromEnd }) =>
  within(
    period,
    nth ? period.first.add({ days: Number(nth) - 1 }) : period.last.subtract({ days: Number(fromEnd ?? 1) - 1 }),
  );

/** "The 5th of next month", but not "the 5th of 2027", where a word is missing. "The first" may be of any period. */
const dayOfMonth: Pick = (period, groups) => {
  const isMonth = period.first.day === 1 && period.last.equals(period.first.with({ day: period.first.daysInMonth }));
  return isMonth || groups.nth === "1" ? nthDay(period, groups) : undefined;
};

function nthWeekday(period: DayRange, { nth, fromEnd, weekday = "" }: Groups): Temporal.PlainDate | undefined {
  const day = weekdayOf(weekday);
  if (!nth) {
    const last = period.last.subtract({ days: (period.last.dayOfWeek - day + 7) % 7 });
    return within(period, last.subtract({ weeks: Number(fromEnd ?? 1) - 1 }));
  }
  const days = ((day - period.first.dayOfWeek + 7) % 7) + (Number(nth) - 1) * 7;
  return within(period, period.first.add({ days }));
}

const within = ({ first, last }: DayRange, day: Temporal.PlainDate): Temporal.PlainDate | undefined =>
  Temporal.PlainDate.compare(day, first) >= 0 && Temporal.PlainDate.compare(day, last) <= 0 ? day : undefined;
