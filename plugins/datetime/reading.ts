import type { Temporal } from "temporal-polyfill";
import { Problem } from "#plugin";

/** `high`: a machine format; `medium`: words with one reading; `low`: something was assumed (schemas/DatetimeParseResponse.json). */
export type Confidence = "high" | "medium" | "low";

/** What a text was understood to mean. */
export interface Reading {
  /** In the zone in which it was said. */
  readonly at: Temporal.ZonedDateTime;
  /** The text names a day without a time: `at` is the day's first moment. */
  readonly wholeDay: boolean;
  readonly confidence: Confidence;
}

const ORDER: readonly Confidence[] = ["low", "medium", "high"];

/** The lower of two confidences. */
export const lower = (one: Confidence, other: Confidence): Confidence =>
  ORDER[Math.min(ORDER.indexOf(one), ORDER.indexOf(other))] as Confidence;

/**
 * A date, and a time unless the whole day is meant, in a zone. Local times that clock changes skip or repeat are taken
 * as Temporal's `compatible` and RFC 5545 say, and are of low confidence.
 */
export function toReading(
  date: Temporal.PlainDate,
  time: Temporal.PlainTime | undefined,
  zone: string,
  confidence: Confidence,
): Reading {
  if (!time) {
    const at = date.toZonedDateTime(zone);
    const exists = at.toPlainDate().equals(date);
    return { at, wholeDay: true, confidence: exists ? confidence : "low" };
  }
  const wall = date.toPlainDateTime(time);
  const at = wall.toZonedDateTime(zone);
  const isUnique =
    at.equals(wall.toZonedDateTime(zone, { disambiguation: "later" })) && at.toPlainDateTime().equals(wall);
  return { at, wholeDay: false, confidence: isUnique ? confidence : "low" };
}

/** A moment that needs no zone, shown in `zone`. */
export const toExactReading = (instant: Temporal.Instant, zone: string, confidence: Confidence): Reading => ({
  at: instant.toZonedDateTimeISO(zone),
  wholeDay: false,
  confidence,
});

/** The only way of not understanding. @param why a sentence that says what would be right. */
export const unclear = (why: string, cause?: unknown): Problem => new Problem("unparseable-input", why, { cause });

/** @param weekday 1 = Monday. @throws Problem `unparseable-input` when the date is another weekday. */
export function checkWeekday(date: Temporal.PlainDate, weekday: number): void {
  if (date.dayOfWeek !== weekday)
    throw unclear(`${date} is a ${toDayName(date)}: the weekday in the text contradicts its date`);
}

const DAY_NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** The English weekday. */
export const toDayName = ({ dayOfWeek }: Temporal.PlainDate): string => DAY_NAMES[dayOfWeek - 1] ?? "";
