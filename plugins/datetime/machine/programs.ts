import { Temporal } from "temporal-polyfill";
import {
  COUNT,
  checkWeekday,
  type Grounds,
  MACHINE,
  type Reading,
  toExactReading,
  toReading,
  unclear,
} from "../reading.ts";
import { monthOf, weekdayOf } from "../vocabulary.ts";
import { offsetOf } from "../zones/abbreviations.ts";
import { readIso } from "./iso.ts";
import { toInstant, toWall } from "./wall.ts";

const WEEKDAY = "(?<weekday>mon|tue|wed|thu|fri|sat|sun)";
const FULL_WEEKDAY = "(?<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)";
const MONTH = "(?<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)";
const TIME =
  "(?<hour>\\d\\d?):(?<minute>\\d\\d)(?::(?<second>\\d\\d)(?:[.,](?<fraction>\\d{1,9}))?)?(?: (?<meridiem>am|pm))?";
const ZONE = "(?<zone>[+-]\\d\\d:?\\d\\d|[a-z]{1,5})";
/** Japanese, without the time; also Chinese, which has other weekdays. */
const SIGNS =
  "(?<year>\\d{4})年 ?(?<number>\\d\\d?)月 ?(?<day>\\d\\d?)日(?: ?\\(?(?<sign>[月火水木金土日])(?:曜日?)?\\)?)?";
const COMMENT = "(?: \\([^()]*\\))?";

const form = (source: string): RegExp => new RegExp(`^${source}$`, "i");

/** Forms that programs write, with single spaces. */
const FORMS: readonly RegExp[] = [
  // RFC 5322, HTTP
  form(`(?:${WEEKDAY},? )?(?<day>\\d{1,2}) ${MONTH} (?<year>\\d{4}|\\d\\d) ${TIME} ${ZONE}${COMMENT}`),
  form(`${FULL_WEEKDAY}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} ${ZONE}`), // RFC 850
  form(`${WEEKDAY} ${MONTH} (?<day>\\d{1,2}) ${TIME}(?: ${ZONE})? (?<year>\\d{4})`), // asctime, date(1), Java, Ruby
  form(`${WEEKDAY} ${MONTH} (?<day>\\d{1,2}) ${TIME} (?<year>\\d{4}) ${ZONE}`), // git, PostgreSQL
  form(`${WEEKDAY} (?<day>\\d{1,2}) ${MONTH} ${TIME} ${ZONE} (?<year>\\d{4})`), // date(1) outside of America
  form(`${WEEKDAY} ${MONTH} (?<day>\\d\\d) (?<year>\\d{4}) ${TIME} gmt(?<zone>[+-]\\d{4})${COMMENT}`), // ECMAScript
  form(`\\[?(?<day>\\d\\d)/${MONTH}/(?<year>\\d{4}):${TIME}(?: ${ZONE})?\\]?`), // Apache
  form(`(?<year>\\d{4}):(?<number>\\d\\d):(?<day>\\d\\d) ${TIME}${ZONE}?`), // EXIF
  // Go
  form(`(?<year>\\d{4})-(?<number>\\d\\d)-(?<day>\\d\\d) ${TIME} (?<zone>[+-]\\d{4}) [a-z+-]\\w*(?: m=[+-][\\d.]+)?`),
  form(
    `(?<year>\\d{4})-(?<number>\\d\\d)-(?<day>\\d\\d)[_t-](?<hour>\\d\\d)-(?<minute>\\d\\d)(?:-(?<second>\\d\\d))?(?<zone>z)?`,
  ), // file names
  form(`(?<day>\\d\\d)(?<hour>\\d\\d)(?<minute>\\d\\d)(?<zone>z) ?${MONTH} ?(?<year>\\d{4}|\\d\\d)`), // date-time group
  form(`${SIGNS}(?: ?${TIME}(?: ${ZONE})?)?`), // date(1) in Japanese
  form(`${SIGNS} ?(?<hour>\\d\\d?)[時时](?:(?<minute>\\d\\d?)分(?:(?<second>\\d\\d?)秒)?)?`),
];

/** RFC 3164 and glog: no year. */
const LOGGED: readonly RegExp[] = [
  form(`(?:<\\d{1,3}>)?${MONTH} (?<day>\\d{1,2}) ${TIME}`),
  form(`[iwef](?<number>\\d\\d)(?<day>\\d\\d) ${TIME}`),
];
const PYTHON =
  /^(?:datetime\.)?(?:datetime|date)\((?<year>\d{4}), ?(?<number>\d\d?), ?(?<day>\d\d?)(?:, ?(?<hour>\d\d?), ?(?<minute>\d\d?)(?:, ?(?<second>\d\d?)(?:, ?(?<micro>\d{1,6}))?)?)?(?:, ?tzinfo=(?<zone>(?:datetime\.)?(?:timezone\.)?(?:utc|UTC)))?\)$/;
/** A text or a count in the notation of a program or a protocol. */
const WRAPPED: readonly RegExp[] = [
  /^\/?Date\((\d{9,14})(?:[+-]\d{4})?\)\/?$/, // ASP.NET; the offset does not move the count
  /^new Date\((\d{9,14})\)$/,
  /^(?:new Date|(?:pd\.)?Timestamp|ISODate|Date|(?:np\.|numpy\.)?datetime64)\(["']([^"']+)["']\)$/,
  /^<\d{1,3}>1 (\S+)$/, // RFC 5424
  /^<t:(\d{9,11})(?::[tTdDfFR])?>$/, // Discord
];

type Groups = Readonly<Record<string, string | undefined>>;

/**
 * Reads dates as in mail (RFC 5322), in HTTP (RFC 9110, with its two obsolete forms) and in programs' output. Undefined
 * for any other text.
 * @throws RangeError, Problem `unparseable-input` when the date does not exist or is another weekday.
 */
export function readProgram(text: string, base: Temporal.ZonedDateTime): Reading | undefined {
  for (const pattern of FORMS) {
    const groups = pattern.exec(text)?.groups;
    const isZoned = groups?.zone === undefined || offsetOf(groups.zone) !== undefined;
    if (groups && isZoned) return toMoment(groups, base);
  }
  const python = PYTHON.exec(text)?.groups;
  if (python) return toMoment({ ...python, fraction: python.micro?.padStart(6, "0") }, base);
  const logged = LOGGED.map((pattern) => pattern.exec(text)?.groups).find(Boolean);
  if (logged?.second !== undefined) return toLogged(logged, base);
  return readWrapped(text, base);
}

/** The year 2000 in milliseconds. A smaller count was probably meant as seconds. */
const RECENT_MS = 946_684_800_000;

function readWrapped(text: string, base: Temporal.ZonedDateTime): Reading | undefined {
  for (const pattern of WRAPPED) {
    const inside = pattern.exec(text)?.[1];
    if (inside === undefined) continue;
    if (!/^\d+$/.test(inside)) return readIso(inside, base.timeZoneId);
    if (/["']/.test(text)) return undefined; // The digits of a date.
    const milliseconds = Number(inside) * (text.startsWith("<") ? 1000 : 1);
    const isRecent = milliseconds >= RECENT_MS;
    const grounds = isRecent ? COUNT : { ...MACHINE, assumptions: [`${inside} is read as Unix milliseconds`] };
    return toExactReading(Temporal.Instant.fromEpochMilliseconds(milliseconds), base.timeZoneId, grounds);
  }
  // systemd: a weekday before ISO 8601
  const [, name = "", rest = ""] = /^(mon|tue|wed|thu|fri|sat|sun) (\d{4}-\d\d-\d\d .*)$/i.exec(text) ?? [];
  const [, wall = rest, zone] = /^(.*) (utc|gmt)$/i.exec(rest) ?? [];
  const reading = rest === "" ? undefined : readIso(wall, zone === undefined ? base.timeZoneId : "UTC");
  if (reading) checkWeekday(reading.at.toPlainDate(), weekdayOf(name));
  return reading;
}

function toMoment(groups: Groups, base: Temporal.ZonedDateTime): Reading {
  const { weekday, zone, minute, second, fraction } = groups;
  const year = toYear(groups.year ?? "", base.year);
  const date = toDate(groups, year);
  if (weekday) checkWeekday(date, weekdayOf(weekday));
  if (groups.sign) checkWeekday(date, "月火水木金土日".indexOf(groups.sign) + 1);
  // The weekday fits only one century.
  const century = groups.year?.length === 2 && !weekday ? [`The year '${groups.year} is taken as ${year}`] : [];
  const grounds = { ...MACHINE, assumptions: century };
  if (groups.hour === undefined) return toReading(date, undefined, base.timeZoneId, grounds);
  const wall = toWall(date, { hour: toHour(groups), minute, second, fraction });
  if (zone === undefined) return toUnzoned(wall, base, grounds, weekday !== undefined);
  const { offset, assumption } = offsetOf(zone) ?? { offset: "Z" };
  const assumptions = [...century, ...(assumption === undefined ? [] : [assumption])];
  return toExactReading(toInstant(wall, offset), base.timeZoneId, { ...MACHINE, assumptions });
}

/** The most recent matching moment, at most a day ahead because clocks differ. */
function toLogged(groups: Groups, base: Temporal.ZonedDateTime): Reading {
  const { minute, second, fraction } = groups;
  const latest = base.add({ days: 1 }).toPlainDateTime();
  for (let year = latest.year; year > latest.year - 9; year--) {
    const { month, day } = toMonthAndDay(groups);
    if (day > Temporal.PlainYearMonth.from({ year, month }).daysInMonth) continue;
    const wall = toWall(toDate(groups, year), { hour: toHour(groups), minute, second, fraction });
    const assumptions = [`A log line without a year is of the past: the year ${year} is taken`];
    if (Temporal.PlainDateTime.compare(wall, latest) <= 0) return toLocal(wall, base, { isMachine: true, assumptions });
  }
  throw unclear("There is no such day");
}

/** A form with a weekday is asctime's: programs print their own zone, while HTTP (RFC 9110, section 5.6.7) means UTC. */
function toUnzoned(
  wall: Temporal.PlainDateTime,
  base: Temporal.ZonedDateTime,
  grounds: Grounds,
  isAsctime: boolean,
): Reading {
  const reading = toLocal(wall, base, grounds);
  if (!isAsctime || reading.at.offsetNanoseconds === 0) return reading;
  const assumption = `The text names no zone and is read in ${base.timeZoneId}; in HTTP it would be UTC`;
  return { ...reading, assumptions: [...reading.assumptions, assumption] };
}

const toLocal = (wall: Temporal.PlainDateTime, { timeZoneId }: Temporal.ZonedDateTime, grounds: Grounds): Reading =>
  toReading(wall.toPlainDate(), wall.toPlainTime(), timeZoneId, grounds);

const toMonthAndDay = ({ month, number, day }: Groups): { readonly month: number; readonly day: number } => ({
  month: month === undefined ? Number(number) : monthOf(month),
  day: Number(day),
});

const toDate = (groups: Groups, year: number): Temporal.PlainDate =>
  Temporal.PlainDate.from({ year, ...toMonthAndDay(groups) }, { overflow: "reject" });

function toHour({ hour = "", meridiem }: Groups): string {
  if (meridiem === undefined) return hour;
  if (Number(hour) < 1 || Number(hour) > 12) throw unclear(`With ${meridiem} the hour is 1 to 12`);
  return String((Number(hour) % 12) + (/pm/i.test(meridiem) ? 12 : 0));
}

/** A year of two digits is the year with that ending that is at most 50 years ahead (RFC 9110, section 5.6.7). */
function toYear(digits: string, now: number): number {
  if (digits.length === 4) return Number(digits);
  const year = now - (now % 100) + Number(digits);
  return year > now + 50 ? year - 100 : year <= now - 50 ? year + 100 : year;
}
