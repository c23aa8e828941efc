import type { Temporal } from "temporal-polyfill";
import type { Plugins } from "#plugin";
import { toDayName } from "./reading.ts";

/** Units with the rounded count from which the next larger unit is used: 59.6 minutes are an hour. */
const UNITS = [
  { unit: "second", seconds: 1, limit: 60 },
  { unit: "minute", seconds: 60, limit: 60 },
  { unit: "hour", seconds: 3600, limit: 24 },
  { unit: "day", seconds: 86_400, limit: 30 },
  { unit: "month", seconds: 2_629_746, limit: 12 },
] as const;
const YEAR = { unit: "year", seconds: 31_556_952 } as const;

/** The fields of schemas/DatetimeParseResponse.json that follow from the moment only. */
type DatetimeFields = Omit<Plugins["datetime"]["parse"]["output"], "confidence" | "assumptions" | "parsed_input">;

/** The fields of a moment. @param at in the zone of the answer. */
export function toDatetimeFields(at: Temporal.ZonedDateTime, base: Temporal.ZonedDateTime): DatetimeFields {
  const relative_seconds = toUnix(at) - toUnix(base);
  const { year, month, day, hour, minute, second } = at;
  return {
    // toString() rounds the offset to minutes; until about 1970 some zones had seconds.
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

function toWords(distance: number): string {
  if (distance === 0) return "now";
  const length = Math.abs(distance);
  const { unit, seconds } = UNITS.find(({ seconds, limit }) => Math.round(length / seconds) < limit) ?? YEAR;
  const count = Math.round(length / seconds);
  const words = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return distance > 0 ? `in ${words}` : `${words} ago`;
}
