import type { Temporal } from "temporal-polyfill";
import { Problem } from "#plugin";

/** schemas/DatetimeParseResponse.json says what each means. */
export type Confidence = "high" | "medium" | "low";

/** The moment that a text names. */
export interface Reading {
  /** In the zone of the text. */
  readonly at: Temporal.ZonedDateTime;
  /** The local time that the text names, where a clock change skips it: `at` is another one. */
  readonly skipped?: Temporal.PlainDateTime;
  /** Whether the text names a day without a time; `at` is then the day's first moment. */
  readonly isWholeDay: boolean;
  /** Whether the text is in a machine format. */
  readonly isMachine: boolean;
  /** Whether it is a count of seconds or smaller units, whose epoch and unit follow from its size. */
  readonly isCount?: boolean;
  /** The assumptions that were made: sentences. */
  readonly assumptions: readonly string[];
}

export type Grounds = Pick<Reading, "isMachine" | "isCount" | "assumptions">;

/** A machine format without assumptions. */
export const MACHINE: Grounds = { isMachine: true, assumptions: [] };
/** A count without assumptions. */
export const COUNT: Grounds = { ...MACHINE, isCount: true };
/** English without assumptions. */
export const PHRASE: Grounds = { isMachine: false, assumptions: [] };

/** A count that leads to another moment than one of 1970 to 2100 (UTC) was probably misread. */
const PLAUSIBLE = { fromMs: 0, untilMs: Date.UTC(2101, 0) } as const;

/** `low` exactly when something was assumed; `high` for machine formats, except counts to implausible moments. */
export function confidenceOf({ at, isMachine, isCount = false, assumptions }: Reading): Confidence {
  if (assumptions.length > 0) return "low";
  const { epochMilliseconds } = at;
  const isPlausible = !isCount || (epochMilliseconds >= PLAUSIBLE.fromMs && epochMilliseconds < PLAUSIBLE.untilMs);
  return isMachine && isPlausible ? "high" : "medium";
}

/**
 * A date, with a time unless the whole day is meant, in a zone. Local times that a clock change skips or repeats are
 * resolved as in Temporal's `compatible` and RFC 5545, which counts as an assumption.
 */
export function toReading(
  date: Temporal.PlainDate,
  time: Temporal.PlainTime | undefined,
  zone: string,
  { isMachine, assumptions }: Grounds,
): Reading {
  if (!time) {
    const at = date.toZonedDateTime(zone);
    const skipped = at.toPlainDate().equals(date) ? [] : [`${zone} has no ${date}; the next day is taken`];
    return { at, isWholeDay: true, isMachine, assumptions: [...assumptions, ...skipped] };
  }
  const wall = date.toPlainDateTime(time);
  const at = wall.toZonedDateTime(zone);
  const later = wall.toZonedDateTime(zone, { disambiguation: "later" });
  const reading = { at, isWholeDay: false, isMachine, assumptions };
  if (!at.toPlainDateTime().equals(wall))
    return { ...reading, skipped: wall, assumptions: [...assumptions, explainSkipped(wall, zone)] };
  if (at.equals(later)) return reading;
  return { ...reading, assumptions: [...assumptions, `a clock change repeats ${wall} in ${zone}; ${FIRST}`] };
}

const explainSkipped = (wall: Temporal.PlainDateTime, zone: string): string =>
  `a clock change skips ${wall} in ${zone}; it is moved forward by the gap`;

/** The local time that a text names, whether or not a clock change skips it, with the other assumptions. */
export function toNamedWall({ at, skipped, assumptions }: Reading) {
  if (!skipped) return { wall: at.toPlainDateTime(), assumptions };
  const said = explainSkipped(skipped, at.timeZoneId);
  return { wall: skipped, assumptions: assumptions.filter((each) => each !== said) };
}

const FIRST = "the first one is taken";

/** The second of two local times that a clock change repeats; none for the reading of any other. */
export function toRepeated({ at, assumptions, ...rest }: Reading): readonly Reading[] {
  const later = at.toPlainDateTime().toZonedDateTime(at.timeZoneId, { disambiguation: "later" });
  const said = assumptions.map((each) => each.replace(FIRST, "the first one is over, the second is taken"));
  return later.equals(at) ? [] : [{ ...rest, at: later, assumptions: said }];
}

/** A moment that is independent of zones, shown in `zone`. */
export const toExactReading = (instant: Temporal.Instant, zone: string, grounds: Grounds = MACHINE): Reading => ({
  at: instant.toZonedDateTimeISO(zone),
  isWholeDay: false,
  ...grounds,
});

/** The error for a text that is not understood. @param why a sentence that says what is expected. */
export const unclear = (why: string, cause?: unknown): Problem => new Problem("unparseable-input", why, { cause });

/** @param weekday 1 = Monday. @throws Problem `unparseable-input` when the date is another weekday. */
export function checkWeekday(date: Temporal.PlainDate, weekday: number): void {
  if (date.dayOfWeek !== weekday)
    throw unclear(`${date} is a ${toDayName(date)}: the weekday in the text contradicts its date`);
}

const DAY_NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** The English weekday. */
export const toDayName = ({ dayOfWeek }: Temporal.PlainDate): string => DAY_NAMES[dayOfWeek - 1] ?? "";
