import type { Temporal } from "temporal-polyfill";
import type { DayRule, NamedDay } from "./named-day.ts";
import { weekOf } from "./periods.ts";
import { WEEKDAY, weekdayOf } from "./vocabulary.ts";

const WEEKS: Readonly<Record<string, number>> = { this: 0, next: 1, last: -1 };

/** Weekdays of a named week, and those with a word like "next" before them. */
export const WEEKDAY_RULES: readonly DayRule[] = [
  [new RegExp(`\\b(?:on )?(?<weekday>${WEEKDAY}),? (?:of )?(?<week>this|next|last) week\\b`), ofWeek],
  [new RegExp(`\\b(?<week>this|next|last) week(?:'s)?,? (?:on )?(?<weekday>${WEEKDAY})\\b`), ofWeek],
  [
    new RegExp(`\\b(?:on )?(?:the )?(?:this )?(?<which>coming|upcoming|past|previous) (?<weekday>${WEEKDAY})\\b`),
    ({ which = "", weekday = "" }, today) => ({
      date: /coming/.test(which) ? following(today, weekday) : preceding(today, weekday),
      confidence: "medium",
    }),
  ],
  [new RegExp(`\\b(?:on )?(?<which>this|next|last) (?<weekday>${WEEKDAY})\\b`), nextOrLast],
];

/** "Next Friday" is taken as the one of next week, "this Friday" and "last Friday" as the nearest: low when people differ. */
function nextOrLast(groups: Readonly<Record<string, string>>, today: Temporal.PlainDate): NamedDay {
  const { which = "", weekday = "" } = groups;
  const byWeek = inWeek(today, weekday, WEEKS[which] ?? 0);
  const nearest = which === "last" ? preceding(today, weekday) : following(today, weekday);
  const isOneDay = byWeek.equals(nearest);
  return { date: which === "next" ? byWeek : nearest, confidence: isOneDay ? "medium" : "low" };
}

function ofWeek(groups: Readonly<Record<string, string>>, today: Temporal.PlainDate): NamedDay {
  const { weekday = "", week = "" } = groups;
  return { date: inWeek(today, weekday, WEEKS[week] ?? 0), confidence: "medium" };
}

const inWeek = (today: Temporal.PlainDate, weekday: string, weeks: number): Temporal.PlainDate =>
  weekOf(today.add({ weeks })).first.add({ days: weekdayOf(weekday) - 1 });

/** The nearest such day after today. */
const following = (today: Temporal.PlainDate, weekday: string): Temporal.PlainDate =>
  today.add({ days: ((weekdayOf(weekday) - today.dayOfWeek + 6) % 7) + 1 });

/** The nearest such day before today. */
const preceding = (today: Temporal.PlainDate, weekday: string): Temporal.PlainDate =>
  today.subtract({ days: ((today.dayOfWeek - weekdayOf(weekday) + 6) % 7) + 1 });
