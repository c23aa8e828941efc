import { Temporal } from "temporal-polyfill";
import { type Grounds, MACHINE, type Reading, toExactReading, toReading, unclear } from "../reading.ts";
import { toInstant, toWall } from "./wall.ts";

type ToDate = (...digits: readonly string[]) => Temporal.PlainDate;

const calendar: ToDate = (year, month, day) =>
  Temporal.PlainDate.from({ year: Number(year), month: Number(month), day: Number(day) }, { overflow: "reject" });

const week: ToDate = (year, number, weekday = "1") => {
  const date = calendar(year, "1", "4").add({ weeks: Number(number) - 1 });
  const day = date.add({ days: Number(weekday) - date.dayOfWeek });
  if (day.weekOfYear !== Number(number)) throw new RangeError(`${year} has no week ${number}`);
  return day;
};

const ordinal: ToDate = (year, number) => {
  const first = calendar(year, "1", "1");
  if (Number(number) < 1 || Number(number) > first.daysInYear) throw new RangeError(`${year} has no day ${number}`);
  return first.add({ days: Number(number) - 1 });
};

/** Dates that name a day. */
const DAYS: readonly (readonly [RegExp, ToDate])[] = [
  [/^(\d{4}|[+-]\d{6})-(\d\d)-(\d\d)$/, calendar],
  [/^(\d{4})\/(\d\d)\/(\d\d)$/, calendar], // Not ISO 8601, but logs of nginx and Go write it.
  [/^(\d{4})(\d\d)(\d\d)$/, calendar],
  [/^(\d{4})-W(\d\d)-([1-7])$/i, week],
  [/^(\d{4})W(\d\d)([1-7])$/i, week],
  [/^(\d{4})-(\d{3})$/, ordinal],
  [/^(\d{4})(\d{3})$/, ordinal],
];

/** Dates of reduced precision. */
const PERIODS: readonly (readonly [RegExp, ToDate])[] = [
  [/^(\d{4})-(\d\d)$/, (year, month) => calendar(year, month, "1")],
  [/^(\d{4})-?W(\d\d)$/i, week],
];

const PARTS = /^([^T\s[]+)(?:[T\s]([^Z\s[+−-]+)\s?(Z|[+−-]\d\d(?::?\d\d(?::?\d\d)?)?)?)?(\[.+)?$/i;
const TIME = /^(\d\d)(?::?(\d\d)(?::?(\d\d))?)?(?:[.,](\d{1,18}))?$/;
/** After a T a fraction of an hour, after a space hours and minutes as many people write them. */
const DOTTED = /^\d\d[.,][0-5]\d$/;
const SUFFIX = /^(?:\[!?([a-z][\w+/-]*)\])?(?:\[u-ca=(?:iso8601|gregory)\])?$/i;

/**
 * Reads ISO 8601 (calendar, week and ordinal dates, basic and extended, with or without time and offset) and RFC 9557's
 * `[Zone/Name]`. Undefined for any other text. @param zone of texts without an offset. @throws RangeError, Problem
 * `unparseable-input` for ISO 8601 of a date that does not exist.
 */
export function readIso(text: string, zone: string): Reading | undefined {
  const [, dateText = "", timeText, offset, suffix = ""] = PARTS.exec(text) ?? [];
  const named = SUFFIX.exec(suffix);
  const time = timeText === undefined ? undefined : TIME.exec(timeText);
  if (!named || time === null) return undefined;
  const day = toDate(dateText, DAYS);
  const date = day ?? (time ? undefined : toDate(dateText, PERIODS));
  if (!date) return undefined;
  const isDotted = DOTTED.test(timeText ?? "");
  const isClock = isDotted && text[dateText.length] === " ";
  const dotted = isDotted ? [`${timeText} is read as ${isClock ? "hours and minutes" : "a fraction of an hour"}`] : [];
  const grounds = time && day ? { ...MACHINE, assumptions: dotted } : toGrounds(dateText, day !== undefined);
  const ownZone = named[1] ?? zone;
  if (!time) return toReading(date, undefined, ownZone, grounds);
  const [, hour = "", minute, second, fraction] = time;
  const wall = toWall(date, isClock ? { hour, minute: fraction } : { hour, minute, second, fraction });
  if (!offset) return toReading(wall.toPlainDate(), wall.toPlainTime(), ownZone, grounds);
  const reading = toExactReading(toInstant(wall, offset), ownZone, grounds);
  if (named[1] && !/^z$/i.test(offset) && !reading.at.toPlainDateTime().equals(wall))
    throw unclear(`${named[1]} is not at ${offset} then: leave one of them out`);
  return reading;
}

/** The grounds of a date without a time. */
function toGrounds(dateText: string, isDay: boolean): Grounds {
  if (!isDay) return { isMachine: true, assumptions: [`${dateText} is a period; its first day is taken`] };
  if (!/^\d{7}$/.test(dateText)) return MACHINE;
  return { isMachine: true, assumptions: [`${dateText} is read as a year and a day of the year, not as Unix seconds`] };
}

function toDate(text: string, forms: typeof DAYS): Temporal.PlainDate | undefined {
  for (const [pattern, form] of forms) {
    const match = pattern.exec(text);
    if (match) return form(...match.slice(1));
  }
  return undefined;
}
