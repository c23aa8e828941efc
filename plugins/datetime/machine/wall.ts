import { Temporal } from "temporal-polyfill";

/** A time in digits; absent parts are zero. `fraction` is the digits after the decimal sign of the last part. */
export interface ClockDigits {
  readonly hour: string;
  readonly minute?: string | undefined;
  readonly second?: string | undefined;
  readonly fraction?: string | undefined;
}

/**
 * Joins date and time by the rules of ISO 8601: 24:00 is the end of the day, a fraction belongs to the smallest given part,
 * and a leap second counts as the second after it, as in Unix time. @throws RangeError for an impossible time.
 */
export function toWall(date: Temporal.PlainDate, digits: ClockDigits): Temporal.PlainDateTime {
  const [hour, minute, second] = [Number(digits.hour), Number(digits.minute ?? 0), Number(digits.second ?? 0)];
  const unitSeconds = digits.second ? 1 : digits.minute ? 60 : 3600;
  const nanoseconds = Number((digits.fraction ?? "").slice(0, 9).padEnd(9, "0")) * unitSeconds;
  const isDayEnd = hour === 24 && minute === 0 && second === 0 && nanoseconds === 0;
  const isLeapSecond = minute === 59 && second === 60;
  const shown = { hour: isDayEnd ? 0 : hour, minute, second: isLeapSecond ? 59 : second };
  const wall = date.toPlainDateTime(Temporal.PlainTime.from(shown, { overflow: "reject" }));
  return wall.add({ days: isDayEnd ? 1 : 0, seconds: isLeapSecond ? 1 : 0, nanoseconds });
}

/** @param offset `Z`, or ±hh, ±hhmm, ±hh:mm, ±hh:mm:ss with `-` or the minus sign. @throws RangeError. */
export const toInstant = (wall: Temporal.PlainDateTime, offset: string): Temporal.Instant =>
  Temporal.Instant.from(`${wall}${offset.replace("−", "-").toUpperCase()}`);
