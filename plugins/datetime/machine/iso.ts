import { Temporal } from "temporal-polyfill";
import { type Confidence, type Reading, toExactReading, toReading, unclear } from "../reading.ts";
import { toInstant, toWall } from "./wall.ts";

type ToDate = (...digits: readonly string[]) => Temporal.PlainDate;

const calendar: ToDate = (year, month, day) =>
  Temporal.PlainDate.from({ year: Number(year), month: Number(month), day: Number(day) }, { overflow: "reject" });

const week: ToDate = (year, number, weekday = "1") => {
  const date = calendar(year as string, "1", "4").add({ weeks: Number(number) - 1 });
  const day = date.add({ days: Number(weekday) - date.dayOfWeek });
  if (day.weekOfYear !== Number(number)) throw new RangeError(`${year} has no week ${number}`);
  return day;
};

const ordinal: ToDate = (year, number) => {
  const first = calendar(year as string, "1", "1");
  if (Number(number) < 1 || Number(number) > first.daysInYear) throw new RangeError(`${year} has no day ${number}`);
  return first.add({ days: Number(number) - 1 });
};

/** Dates that name a day. */
const DAYS: readonly (readonly [RegExp, ToDate])[] = [
  [/^(\d{4}|[+-]\d{6})-(\d\d)-(\d\d)$/, calendar],
  [/^(\d{4})(\d\d)(\d\d)$/, calendar],
  [/^(\d{4})-W(\d\d)-([1-7])$/i, week],
  [/^(\d{4})W(\d\d)([1-7])$/i, week],
  [/^(\d{4})-(\d{3})$/, ordinal],
  [/^(\d{4})(\d{3})$/, ordinal],
];

/** Dates of reduced precision, which stand for their first day. */
const PERIODS: readonly (readonly [RegExp, ToDate])[] = [
  [/^(\d{4})-(\d\d)$/, (year, month) => calendar(year as string, month as string, "1")],
  [/^(\d{4})-?W(\d\d)$/i, week],
];

const PARTS = /^([^T\s[]+)(?:[T\s]([^Z\s[+−-]+)\s?(Z|[+−-]\d\d(?::?\d\d(?::?\d\d)?)?)?)?(\[.+)?$/i;
const TIME = /^(\d\d)(?::?(\d\d)(?::?(\d\d))?)?(?:[.,](\d{1,18}))?$/;
const SUFFIX = /^(?:\[!?([a-z][\w+/-]*)\])?(?:\[u-ca=(?:iso8601|gregory)\])?$/i;

/**
 * ISO 8601: calendar, week and ordinal dates, basic and extended, with a time and an offset or without, and RFC 9557's
 * `[Zone/Name]`. Undefined for any other text. @param zone of texts without an offset. @throws RangeError, Problem
 * `unparseable-input` when it is ISO 8601 but names nothing that exists.
 */
export function readIso(text: string, zone: string): Reading | undefined {
  const [, dateText = "", timeText, offset, suffix = ""] = PARTS.exec(text) ?? [];
  const named = SUFFIX.exec(suffix);
  const time = timeText === undefined ? undefined : TIME.exec(timeText);
  if (!named || time === null) return undefined;
  const day = toDate(dateText, DAYS);
  const date = day ?? (time ? undefined : toDate(dateText, PERIODS));
  if (!date) return undefined;
  // A period is no day, and seven digits without a time could as well be Unix seconds.
  const confidence: Confidence = day && (time || !/^\d{7}$/.test(dateText)) ? "high" : "low";
  const ownZone = named[1] ?? zone;
  if (!time) return toReading(date, undefined, ownZone, confidence);
  const [, hour = "", minute, second, fraction] = time;
  const wall = toWall(date, { hour, minute, second, fraction });
  if (!offset) return toReading(wall.toPlainDate(), wall.toPlainTime(), ownZone, confidence);
  const reading = toExactReading(toInstant(wall, offset), ownZone, confidence);
  if (named[1] && !/^z$/i.test(offset) && !reading.at.toPlainDateTime().equals(wall))
    throw unclear(`${named[1]} is not at ${offset} then: leave one of them out`);
  return reading;
}

function toDate(text: string, forms: typeof DAYS): Temporal.PlainDate | undefined {
  for (const [pattern, form] of forms) {
    const match = pattern.exec(text);
    if (match) return form(...match.slice(1));
  }
  return undefined;
}
