import { Temporal } from "temporal-polyfill";
import { type Grounds, MACHINE, type Reading, toExactReading, toReading, unclear } from "../reading.ts";
import { toInstant, toWall } from "./wall.ts";

/** Python's `%Y%m%d%H%M%S%f` and its shorter forms, with or without a mark between date and time; ASN.1, LDAP and PDF. */
const COMPACT =
  /^(?:D:)?(\d{4})(\d\d)(\d\d)(?:[ _-]?(\d\d)(\d\d)(\d\d)?([.,]\d{1,9}|\d{3}|\d{6}|\d{9})?)(?:(Z)|([+-]\d\d)[:']?(\d\d)'?)?$/i;
/** ASN.1's UTCTime, with a year of two digits. */
const UTC_TIME = /^(\d\d)(\d{10})Z$/;
/** A date without separators that begins with the day or the month. */
const YEAR_LAST = /^(\d\d)(\d\d)((?:19|20)\d\d)$/;
const YEAR_AND_MONTH = /^((?:19|20)\d\d)(0[1-9]|1[0-2])$/;
/** WMI and CIM: `20270217140509.000000+060`, the offset in minutes. */
const CIM = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\.(\d{6})([+-])(\d{3})$/;

/**
 * Reads dates in digits without separators, with and without times: `20270217140509`, `270217140509Z`, `17022027`,
 * `202702`. Undefined for any other text, and for digits that are no date from 1970 to 2100, since they may be a count.
 * @throws Problem `unparseable-input` for days that do not exist: `31042027`.
 */
export const readCompact = (text: string, zone: string): Reading | undefined =>
  readCim(text, zone) ?? readUtcTime(text, zone) ?? readMoment(text, zone) ?? readShort(text, zone);

function readCim(text: string, zone: string): Reading | undefined {
  const [, year, month, day, hour = "", minute, second, fraction, sign, minutes] = CIM.exec(text) ?? [];
  if (minutes === undefined) return undefined;
  const date = Temporal.PlainDate.from(toNumbers({ year, month, day }), { overflow: "reject" });
  const utc = toWall(date, { hour, minute, second, fraction }).toZonedDateTime("UTC");
  return toExactReading(utc.subtract({ minutes: Number(`${sign}${minutes}`) }).toInstant(), zone);
}

function readUtcTime(text: string, zone: string): Reading | undefined {
  const [, short, rest] = UTC_TIME.exec(text) ?? [];
  if (short === undefined) return undefined;
  const year = Number(short) < 50 ? `20${short}` : `19${short}`; // RFC 5280, section 4.1.2.5.1
  const reading = readMoment(`${year}${rest}Z`, zone);
  return reading && { ...reading, assumptions: [`The year '${short} is taken as ${year}`] };
}

function readMoment(text: string, zone: string): Reading | undefined {
  const [, year, month, day, hour = "", minute, second, fraction, utc, hours, minutes] = COMPACT.exec(text) ?? [];
  if (minute === undefined || Number(year) < 1970 || Number(year) > 2100) return undefined;
  try {
    const date = Temporal.PlainDate.from(toNumbers({ year, month, day }), { overflow: "reject" });
    const wall = toWall(date, { hour, minute, second, fraction: fraction?.replace(/^[.,]/, "") });
    const offset = utc ?? (hours && `${hours}:${minutes}`);
    if (offset) return toExactReading(toInstant(wall, offset), zone);
    return toReading(wall.toPlainDate(), wall.toPlainTime(), zone, MACHINE);
  } catch {
    return undefined;
  }
}

/** Dates without separators that ISO 8601 does not have: `17022027`, `202702`. */
function readShort(text: string, zone: string): Reading | undefined {
  const [, year, month] = YEAR_AND_MONTH.exec(text) ?? [];
  if (year !== undefined) {
    const date = Temporal.PlainDate.from({ year: Number(year), month: Number(month), day: 1 });
    return toReading(date, undefined, zone, toGuess(`${text} is read as a month; its first day is taken`));
  }
  const [, one, two, last] = YEAR_LAST.exec(text) ?? [];
  if (last === undefined) return undefined;
  const isDayFirst = Number(one) > 12;
  const [monthOf, day] = isDayFirst ? [two, one] : [one, two];
  if (!isDate({ year: last, month: monthOf, day })) {
    if (Number(one) > 31 || Number(two) > 31) return undefined;
    throw unclear(`${text} looks like a date, and there is no such date`);
  }
  const date = Temporal.PlainDate.from(toNumbers({ year: last, month: monthOf, day }));
  return toReading(date, undefined, zone, toGuess(`${text} is read with the ${isDayFirst ? "day" : "month"} first`));
}

const toGuess = (assumption: string): Grounds => ({ isMachine: true, assumptions: [assumption] });

function isDate(parts: Parameters<typeof toNumbers>[0]): boolean {
  const { year, month, day } = toNumbers(parts);
  return month >= 1 && month <= 12 && day >= 1 && day <= Temporal.PlainYearMonth.from({ year, month }).daysInMonth;
}

const toNumbers = ({ year, month, day }: Readonly<Record<"year" | "month" | "day", string | undefined>>) => ({
  year: Number(year),
  month: Number(month),
  day: Number(day),
});
