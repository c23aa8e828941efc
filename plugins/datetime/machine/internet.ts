import { Temporal } from "temporal-polyfill";
import { checkWeekday, type Reading, toExactReading } from "../reading.ts";
import { monthOf, weekdayOf } from "../words/vocabulary.ts";
import { toInstant, toWall } from "./wall.ts";

const DAY = "(?<weekday>mon|tue|wed|thu|fri|sat|sun)";
const FULL_DAY = "(?<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)";
const MONTH = "(?<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)";
const TIME = "(?<hour>\\d\\d):(?<minute>\\d\\d)(?::(?<second>\\d\\d))?";
const ZONE = "(?<zone>[+-]\\d{4}|ut|utc|gmt|z|est|edt|cst|cdt|mst|mdt|pst|pdt)";
const COMMENT = "(?:\\s\\([^()]*\\))?";

const form = (source: string): RegExp => new RegExp(`^${source.replaceAll(" ", "\\s{1,3}")}$`, "i");

const FORMS: readonly RegExp[] = [
  form(`(?:${DAY},? )?(?<day>\\d{1,2}) ${MONTH} (?<year>\\d{4}|\\d\\d) ${TIME} ${ZONE}${COMMENT}`), // RFC 5322, HTTP
  form(`${FULL_DAY}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} (?<zone>gmt)`), // RFC 850
  form(`${DAY} ${MONTH} (?<day>\\d{1,2}) ${TIME}(?: ${ZONE})? (?<year>\\d{4})`), // asctime, date(1)
  form(`${DAY} ${MONTH} (?<day>\\d\\d) (?<year>\\d{4}) ${TIME} gmt(?<zone>[+-]\\d{4})${COMMENT}`), // ECMAScript
];

/** The zones of RFC 5322, section 4.3, in hours. */
const HOURS: Readonly<Record<string, string>> = {
  est: "-05",
  edt: "-04",
  cst: "-06",
  cdt: "-05",
  mst: "-07",
  mdt: "-06",
  pst: "-08",
  pdt: "-07",
};

/**
 * The dates of mail (RFC 5322), of HTTP (RFC 9110, its two obsolete forms included), of asctime and of ECMAScript's
 * Date. An asctime without a zone is in UTC, as RFC 9110 has it. Undefined for any other text.
 * @throws RangeError, Problem `unparseable-input` when the date does not exist or is another weekday.
 */
export function readInternet(text: string, base: Temporal.ZonedDateTime): Reading | undefined {
  for (const pattern of FORMS) {
    const groups = pattern.exec(text)?.groups;
    if (!groups) continue;
    const { weekday, day, month = "", year = "", hour = "", minute, second, zone = "utc" } = groups;
    const parts = { year: toYear(year, base.year), month: monthOf(month), day: Number(day) };
    const date = Temporal.PlainDate.from(parts, { overflow: "reject" });
    if (weekday) checkWeekday(date, weekdayOf(weekday));
    const offset = zone.startsWith("+") || zone.startsWith("-") ? zone : (HOURS[zone.toLowerCase()] ?? "Z");
    const instant = toInstant(toWall(date, { hour, minute, second }), offset);
    return toExactReading(instant, base.timeZoneId, "high");
  }
  return undefined;
}

/** Two digits mean the year of that ending that is not more than 50 years ahead (RFC 9110, section 5.6.7). */
function toYear(digits: string, now: number): number {
  if (digits.length === 4) return Number(digits);
  const year = now - (now % 100) + Number(digits);
  return year > now + 50 ? year - 100 : year <= now - 50 ? year + 100 : year;
}
