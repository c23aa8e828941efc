import { readSpan, type Span } from "./durations.ts";
import { lower, type Reading, toReading } from "./reading.ts";

/** A length of time, and what it is counted from. */
export interface Shift {
  readonly span: Span;
  readonly sign: 1 | -1;
  /** The text of the moment that is counted from; left out, it is now. */
  readonly anchor?: string;
  /** A time of day behind whole days: "in 3 days at 5pm". */
  readonly clock?: string;
}

const AGO = /^(?:ago|earlier|before now)(?![a-z])/;
const HENCE = /^(?:from now|later|hence)(?![a-z])/;
const AFTER = /^(?:from|after|past) /;
const BEFORE = /^before /;
/** "The day after …", "a week before …". */
const ONE = /^(?:the )?(?=(?:day|week|month|year|hour|minute) (?:after|before) )/;

/**
 * "In 3 days", "3 days ago", "2 hours after <moment>", "the day before <moment>", "now + 1h", "-2 days"; undefined for
 * any other form. @param text in lower case, numbers in digits.
 */
export function readShift(text: string): Shift | undefined {
  const [, sign, length] = /^(?:now ?)?([+-]) ?(?=\d)(.+)$/.exec(text) ?? [];
  if (length !== undefined) return toShift(readSpan(length), sign === "-" ? -1 : 1);
  const [, inside] = /^(?:in|after) (.+)$/.exec(text) ?? [];
  if (inside !== undefined) return toShift(readSpan(inside), 1);
  const span = readSpan(text.replace(ONE, "1 "));
  if (!span) return undefined;
  const { rest } = span;
  if (AGO.test(rest)) return toShift({ ...span, rest: rest.replace(AGO, "") }, -1);
  if (HENCE.test(rest)) return toShift({ ...span, rest: rest.replace(HENCE, "") }, 1);
  if (AFTER.test(rest)) return { span, sign: 1, anchor: rest.replace(AFTER, "") };
  if (BEFORE.test(rest)) return { span, sign: -1, anchor: rest.replace(BEFORE, "") };
  return undefined;
}

/** A shift from now, if nothing but a time of day stands behind it. */
function toShift(span: ReturnType<typeof readSpan>, sign: 1 | -1): Shift | undefined {
  if (!span) return undefined;
  if (span.rest === "") return { span, sign };
  const [, clock] = /^,? ?(at .+)$/.exec(span.rest) ?? [];
  return clock !== undefined && span.clock.blank ? { span, sign, clock } : undefined;
}

/**
 * Calendar units are counted on the calendar of the zone, at the same time of day, and smaller ones in real time. A
 * month that is too short for the day gives its last day (low). @throws RangeError beyond the calendar.
 */
export function shiftBy(from: Reading, { span, sign }: Shift): Reading {
  const { calendar, clock } = sign === 1 ? span : { calendar: span.calendar.negated(), clock: span.clock.negated() };
  if (calendar.blank) return { ...from, at: from.at.add(clock), wholeDay: from.wholeDay && clock.blank };
  const day = from.at.toPlainDate();
  const date = day.add(calendar);
  const isClamped = date.day !== day.day && calendar.days === 0;
  const time = from.wholeDay && clock.blank ? undefined : from.at.toPlainTime();
  const moved = toReading(date, time, from.at.timeZoneId, isClamped ? "low" : from.confidence);
  return { ...moved, at: moved.at.add(clock), confidence: lower(moved.confidence, from.confidence) };
}
