import type { Temporal } from "temporal-polyfill";
import { toDayName } from "../reading.ts";
import { WEEKDAY, weekdayOf } from "../vocabulary.ts";
import { type DayRule, type Groups, type NamedDay, type ReadAnchor, toDay } from "./day.ts";
import { toSteps, weekOf } from "./periods.ts";

const WEEK =
  "(?:(?<week>this|next|last|(?:the )?coming|(?:the )?following) week|(?:the )?week (?<far>after next|before last))";
const ON = "(?:on )?(?:the )?";

/** Weekdays of a week, relative weekdays, and weekdays counted from a day. */
export const WEEKDAY_RULES: readonly DayRule[] = [
  [new RegExp(`\\b${ON}(?<weekday>${WEEKDAY}),? (?:of |in )?${WEEK}\\b`), ofWeek],
  [new RegExp(`\\b${WEEK}(?:'s)?,? (?:on )?(?<weekday>${WEEKDAY})\\b`), ofWeek],
  [new RegExp(`\\b(?:the )?(?<weekday>${WEEKDAY}) after next\\b`), afterNext],
  [new RegExp(`\\b(?:the )?(?<weekday>${WEEKDAY}) before last\\b`), (groups, today) => beforeLast(groups, today)],
  [
    new RegExp(
      `\\b(?:a |1 )?week (?:on|from) (?<weekday>${WEEKDAY})\\b|\\b(?:on )?(?<weekday>${WEEKDAY}) week\\b|\\b(?<weekday>${WEEKDAY})(?:,)? (?:a |1 )week from now\\b`,
    ),
    ({ weekday = "" }, today) => toDay(following(today, weekday).add({ weeks: 1 })),
  ],
  [
    new RegExp(`\\b(?:on )?(?<weekday>${WEEKDAY}) fortnight\\b`),
    ({ weekday = "" }, today) => toDay(following(today, weekday).add({ weeks: 2 })),
  ],
  [
    new RegExp(
      `\\b(?<count>\\d{1,3}|a) (?<weekday>${WEEKDAY})s? (?:from (?:now|today)|hence|later)\\b|\\bin (?<count>\\d{1,3}) (?<weekday>${WEEKDAY})s\\b`,
    ),
    ({ count = "", weekday = "" }, today) => counted(today, weekday, count),
  ],
  [
    new RegExp(`\\b(?<count>\\d{1,3}|a) (?<weekday>${WEEKDAY})s? ago\\b`),
    ({ count = "", weekday = "" }, today) => counted(today, weekday, count, true),
  ],
  [
    new RegExp(`\\b${ON}(?:this )?(?<which>coming|upcoming|following|past|previous) (?<weekday>${WEEKDAY})\\b`),
    ({ which = "", weekday = "" }, today) =>
      toDay(toSteps(which) > 0 || which === "upcoming" ? following(today, weekday) : preceding(today, weekday)),
  ],
  [new RegExp(`\\b${ON}(?<which>this|next|last) (?<weekday>${WEEKDAY})(?:coming)?\\b`), nextOrLast],
  [
    new RegExp(`\\b(?:on )?(?<weekday>${WEEKDAY}),? the (?<day>\\d{1,2})(?:st|nd|rd|th)\\b(?! (?:of|in)\\b)`),
    withDayOfMonth,
  ],
];

/** A weekday beside another day: "the Monday after Christmas". */
export const WEEKDAY_BESIDE_RULE: DayRule = [
  new RegExp(
    `\\b${ON}(?:(?<nth>\\d{1,2})(?:st|nd|rd|th) |last |next )?(?<weekday>${WEEKDAY}) (?<side>after|following|before|preceding) (?!next\\b|last$)(?<anchor>.+)$`,
  ),
  beside,
];

/** A weekday alone: the next one, or today. */
export const BARE_WEEKDAY_RULE: DayRule = [
  new RegExp(`\\b(?:on )?(?:a )?(?<weekday>${WEEKDAY})\\b`),
  ({ weekday = "" }, today) =>
    weekdayOf(weekday) === today.dayOfWeek ? todayOrInAWeek(today) : toDay(following(today, weekday)),
];

function todayOrInAWeek(today: Temporal.PlainDate): NamedDay {
  const assumption = `Today is a ${toDayName(today)}: today is taken, or a week from now if the time is over`;
  return { dates: [today, today.add({ weeks: 1 })], assumptions: [assumption] };
}

/**
 * "Next Friday" is the one of next week, "this Friday" and "last Friday" are the nearest. Adds an assumption when the
 * usage differs between people.
 */
function nextOrLast({ which = "", weekday = "" }: Groups, today: Temporal.PlainDate): NamedDay {
  if (which === "this" && weekdayOf(weekday) === today.dayOfWeek) return todayOrInAWeek(today);
  const byWeek = inWeek(today, weekday, toSteps(which));
  const nearest = which === "last" ? preceding(today, weekday) : following(today, weekday);
  const date = which === "next" ? byWeek : nearest;
  return byWeek.equals(nearest) ? toDay(date) : toDay(date, `"${which} ${toDayName(date)}" is taken as ${date}`);
}

function ofWeek({ weekday = "", week, far }: Groups, today: Temporal.PlainDate): NamedDay {
  return toDay(inWeek(today, weekday, far === undefined ? toSteps(week) : 2 * toSteps(far)));
}

function afterNext({ weekday = "" }: Groups, today: Temporal.PlainDate): NamedDay {
  const date = inWeek(today, weekday, 2);
  return toDay(date, `The ${toDayName(date)} after next is taken as ${date}`);
}

function beforeLast({ weekday = "" }: Groups, today: Temporal.PlainDate): NamedDay {
  const date = preceding(today, weekday).subtract({ weeks: 1 });
  return toDay(date, `The ${toDayName(date)} before last is taken as ${date}`);
}

function beside(groups: Groups, _today: Temporal.PlainDate, readAnchor: ReadAnchor): NamedDay {
  const { nth = "1", weekday = "", side = "", anchor = "" } = groups;
  const { at, assumptions } = readAnchor(anchor);
  const day = at.toPlainDate();
  const weeks = Number(nth) - 1;
  const isAfter = side === "after" || side === "following";
  const date = isAfter ? following(day, weekday).add({ weeks }) : preceding(day, weekday).subtract({ weeks });
  return toDay(date, ...assumptions);
}

function counted(today: Temporal.PlainDate, weekday: string, count: string, isPast = false): NamedDay {
  const weeks = (count === "a" ? 1 : Number(count)) - 1;
  return toDay(isPast ? preceding(today, weekday).subtract({ weeks }) : following(today, weekday).add({ weeks }));
}

/** "Friday the 13th": the next one. */
function withDayOfMonth({ weekday = "", day }: Groups, today: Temporal.PlainDate): NamedDay | undefined {
  const months = Array.from({ length: 12 * 8 }, (_, i) => today.with({ day: 1 }).add({ months: i }));
  const date = months
    .filter(({ daysInMonth }) => Number(day) >= 1 && Number(day) <= daysInMonth)
    .map((month) => month.with({ day: Number(day) }))
    .find((each) => each.dayOfWeek === weekdayOf(weekday) && each.since(today).sign >= 0);
  return date && toDay(date, `The next such ${toDayName(date)} is taken: ${date}`);
}

const inWeek = (today: Temporal.PlainDate, weekday: string, weeks: number): Temporal.PlainDate =>
  weekOf(today.add({ weeks })).first.add({ days: weekdayOf(weekday) - 1 });

/** The nearest such weekday after a day. */
const following = (day: Temporal.PlainDate, weekday: string): Temporal.PlainDate =>
  day.add({ days: ((weekdayOf(weekday) - day.dayOfWeek + 6) % 7) + 1 });

/** The nearest such weekday before a day. */
const preceding = (day: Temporal.PlainDate, weekday: string): Temporal.PlainDate =>
  day.subtract({ days: ((day.dayOfWeek - weekdayOf(weekday) + 6) % 7) + 1 });
