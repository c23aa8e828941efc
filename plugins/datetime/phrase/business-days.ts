import type { Temporal } from "temporal-polyfill";
import { type DayRule, type NamedDay, toDay } from "./day.ts";
import { type DayRange, PERIOD, toPeriods } from "./periods.ts";

/** The kinds of days that are not counted on weekends. */
export const BUSINESS = "(?:business|working|work|trading|banking)";
const DAYS = `${BUSINESS} ?days?|weekdays?`;
const WEEKENDS = "Business days are Monday to Friday; holidays are not considered";

/** Business days, counted from today, from another day, or within a period. */
export const BUSINESS_DAY_RULES: readonly DayRule[] = [
  [
    new RegExp(`\\b(?:in|after) (?<count>\\d{1,4}|an?) (?:${DAYS})(?:'? time)?\\b`),
    ({ count = "" }, today) => ({ ...move(today, toCount(count)), keepsClock: true }),
  ],
  [
    new RegExp(`\\b(?<count>\\d{1,4}|an?) (?:${DAYS}) (?<side>ago|before now|from now|after now|hence|later)\\b`),
    ({ count = "", side }, today) => ({
      ...move(today, /^(?:ago|before)/.test(side ?? "") ? -toCount(count) : toCount(count)),
      keepsClock: true,
    }),
  ],
  [
    new RegExp(
      `\\b(?:(?<count>\\d{1,4}|an?|the) (?:${DAYS}) (?<side>after|from|following|before|prior to)|(?:the )?(?:next|1th) (?:${DAYS}) (?<side>after|following)|(?:the )?last (?:${DAYS}) (?<side>before|prior to)) (?<anchor>.+)$`,
    ),
    ({ count = "", side = "", anchor = "" }, _today, readAnchor) => {
      const { at, assumptions } = readAnchor(anchor);
      const isBack = side === "before" || side === "prior to";
      return move(at.toPlainDate(), isBack ? -toCount(count) : toCount(count), assumptions);
    },
  ],
  [
    new RegExp(
      `\\b(?:on )?(?:the )?(?:(?<nth>\\d{1,2})(?:st|nd|rd|th)|(?<fromEnd>\\d)-last|last) (?:${DAYS}) (?:of|in) (?:the )?(?<period>${PERIOD})`,
    ),
    ({ nth, fromEnd, period = "" }, today) =>
      ofPeriods(toPeriods(period, today), nth === undefined ? -Number(fromEnd ?? 1) : Number(nth)),
  ],
  [
    new RegExp(`\\b(?:on )?(?:the )?(?<which>next|following|last|previous) (?:${DAYS})\\b`),
    ({ which = "" }, today) => move(today, /next|following/.test(which) ? 1 : -1),
  ],
];

const toCount = (text: string): number => (/^\d/.test(text) ? Number(text) : 1);

/** @param count business days, negative for backwards. */
function move(day: Temporal.PlainDate, count: number, assumptions: readonly string[] = []): NamedDay {
  const step = Math.sign(count);
  let date = day;
  for (let left = Math.abs(count); left > 0; ) {
    date = date.add({ days: step });
    if (date.dayOfWeek <= 5) left--;
  }
  return toDay(date, ...assumptions, WEEKENDS);
}

/** @param nth from 1, or from -1 backwards. */
function ofPeriods(periods: readonly DayRange[], nth: number): NamedDay {
  const dates = periods.map(({ first, last }) => {
    const edge = nth > 0 ? first.subtract({ days: 1 }) : last.add({ days: 1 });
    return move(edge, nth).dates[0] as Temporal.PlainDate;
  });
  return { dates, assumptions: [WEEKENDS] };
}
