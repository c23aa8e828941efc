import type { Temporal } from "temporal-polyfill";
import { toDayName } from "./reading.ts";

/** The largest unit of which there is at least one, when rounded: 59.6 minutes are an hour. */
const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number, limit: number])[] = [
  ["second", 1, 60],
  ["minute", 60, 60],
  ["hour", 3600, 24],
  ["day", 86_400, 30],
  ["month", 2_629_746, 12],
  ["year", 31_556_952, Number.POSITIVE_INFINITY],
];

const english = new Intl.RelativeTimeFormat("en");

/** All fields of schemas/DatetimeParseResponse.json that the moment itself decides. */
export interface Answer {
  readonly iso: string;
  readonly unix: number;
  readonly timezone: string;
  readonly components: Readonly<Record<"year" | "month" | "day" | "hour" | "minute" | "second" | "weekday", number>> & {
    readonly day_name: string;
  };
  readonly relative_seconds: number;
  readonly relative_human: string;
}

/** @param at in the zone of the answer. */
export function toAnswer(at: Temporal.ZonedDateTime, base: Temporal.ZonedDateTime): Answer {
  const relative_seconds = toUnix(at) - toUnix(base);
  const { year, month, day, hour, minute, second } = at;
  return {
    // Not toString(), which rounds the offset to minutes: zones had odd seconds until about 1970.
    iso: `${at.toPlainDateTime()}${at.offset}`,
    unix: toUnix(at),
    timezone: at.timeZoneId,
    components: {
      year,
      month,
      day,
      hour,
      minute,
      second,
      weekday: at.dayOfWeek - 1,
      day_name: toDayName(at.toPlainDate()),
    },
    relative_seconds,
    relative_human: toWords(relative_seconds),
  };
}

const toUnix = ({ epochMilliseconds }: Temporal.ZonedDateTime): number => Math.floor(epochMilliseconds / 1000);

function toWords(seconds: number): string {
  if (seconds === 0) return "now";
  for (const [unit, size, limit] of UNITS) {
    const count = Math.round(Math.abs(seconds) / size);
    if (count < limit) return english.format(Math.sign(seconds) * count, unit);
  }
  return "";
}
