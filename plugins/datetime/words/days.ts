import { Temporal } from "temporal-polyfill";
import type { Confidence } from "../reading.ts";
import type { DayRule, NamedDay } from "./named-day.ts";
import { NUMERIC_RULES } from "./numeric.ts";
import { PERIOD, type Period, toPeriods } from "./periods.ts";
import { WEEKDAY, weekdayOf } from "./vocabulary.ts";
import { WEEKDAY_RULES } from "./weekdays.ts";

const NTH = "(?:(?<nth>\\d{1,3})(?:st|nd|rd|th)|last)";
const DAY_NUMBER = "(?:the )?(?<nth>\\d{1,2})(?:st|nd|rd|th)";
const MONTH_NAMED = "(?<period>(?:this|next|last) month)";
const LEAD = "(?:(?:on|in|at|during) )?(?:the )?";
const OF_PERIOD = `(?:of|in) (?:the )?(?<period>${PERIOD})`;
const SHIFTS: Readonly<Record<string, number>> = { day: 0, today: 0, tomorrow: 1, yesterday: -1 };

/** In the order in which they are tried. */
const RULES: readonly DayRule[] = [
  [
    new RegExp(`\\b${LEAD}${NTH} (?<weekday>${WEEKDAY}) ${OF_PERIOD}`),
    (groups, today) => first(groups, today, nthWeekday),
  ],
  [new RegExp(`\\b${LEAD}${NTH} day ${OF_PERIOD}`), (groups, today) => first(groups, today, nthDay)],
  [new RegExp(`\\b${LEAD}${DAY_NUMBER} ${OF_PERIOD}`), (groups, today) => first(groups, today, nthDay)],
  [new RegExp(`\\b${LEAD}${DAY_NUMBER} ${MONTH_NAMED}\\b`), (groups, today) => first(groups, today, nthDay)],
  [new RegExp(`\\b${MONTH_NAMED},? (?:on )?${DAY_NUMBER}\\b`), (groups, today) => first(groups, today, nthDay)],
  [new RegExp(`\\b${LEAD}(?<edge>start|beginning|end) ${OF_PERIOD}`), (groups, today) => first(groups, today, edge)],
  [
    new RegExp(`\\b${LEAD}(?<edge>start|beginning|end) of (?:the )?(?<day>day|today|tomorrow|yesterday)\\b`),
    ({ edge, day = "" }, today) => ({
      date: today.add({ days: SHIFTS[day] ?? 0 }),
      confidence: "medium",
      isEnd: edge === "end",
    }),
  ],
  ...WEEKDAY_RULES,
  [
    /\b(?<day>today|tomorrow|yesterday)\b/,
    ({ day = "" }, today) => ({ date: today.add({ days: SHIFTS[day] ?? 0 }), confidence: "medium" }),
  ],
  ...NUMERIC_RULES,
  [
    new RegExp(`^${LEAD}(?!(?:week|weekend|month|quarter|year)$)(?<period>${PERIOD})$`),
    (groups, today) => first(groups, today, ({ first }) => first, "low"),
  ],
];

/** The first day that a text names, and the text with its ISO date in place. @throws RangeError when there is no such day. */
export function takeDay(text: string, today: Temporal.PlainDate): (NamedDay & { readonly rest: string }) | undefined {
  for (const [pattern, toDay] of RULES) {
    const match = pattern.exec(text);
    const day = match && toDay((match.groups ?? {}) as Record<string, string>, today);
    if (!day) continue;
    const rest = `${text.slice(0, match.index)}${day.date}${text.slice(match.index + match[0].length)}`;
    return { ...day, rest };
  }
  return undefined;
}

type Groups = Readonly<Record<string, string>>;
type Pick = (period: Period, groups: Groups) => Temporal.PlainDate | undefined;

/** The day of the period that is meant; where the year is left open, of the first period in which it is not over (low). */
function first(groups: Groups, today: Temporal.PlainDate, pick: Pick, most: Confidence = "medium"): NamedDay {
  const periods = toPeriods(groups.period ?? "", today);
  const days = periods.map((period) => pick(period, groups)).filter((day) => day !== undefined);
  const isOpen = periods.length > 1;
  const date = days.find((day) => !isOpen || Temporal.PlainDate.compare(day, today) >= 0);
  if (!date) throw new RangeError(`there is no such day in ${groups.period}`);
  const isWeeksEnd = groups.edge === "end" && /week/.test(groups.period ?? "");
  return { date, confidence: isOpen || isWeeksEnd ? "low" : most, isEnd: groups.edge === "end" };
}

const edge: Pick = ({ first, last }, groups) => (groups.edge === "end" ? last : first);

const nthDay: Pick = (period, { nth }) =>
  within(period, nth ? period.first.add({ days: Number(nth) - 1 }) : period.last);

function nthWeekday(period: Period, { nth, weekday = "" }: Groups): Temporal.PlainDate | undefined {
  const day = weekdayOf(weekday);
  if (!nth) return period.last.subtract({ days: (period.last.dayOfWeek - day + 7) % 7 });
  const days = ((day - period.first.dayOfWeek + 7) % 7) + (Number(nth) - 1) * 7;
  return within(period, period.first.add({ days }));
}

const within = ({ first, last }: Period, day: Temporal.PlainDate): Temporal.PlainDate | undefined =>
  Temporal.PlainDate.compare(day, first) >= 0 && Temporal.PlainDate.compare(day, last) <= 0 ? day : undefined;
