import { Temporal } from "temporal-polyfill";
import { type Reading, toExactReading } from "../reading.ts";

const PATTERN = /^(@)?([-−]?)(\d{1,20})(?:\.(\d{1,9}))?$/;

const SECOND = 1_000_000_000n;
/** How many nanoseconds one unit has, by the digits of the count: seconds until the year 5138, and so on. */
const SCALES: readonly (readonly [maxDigits: number, nanoseconds: bigint])[] = [
  [11, SECOND],
  [14, 1_000_000n],
  [17, 1_000n],
  [20, 1n],
];

/**
 * Unix time in seconds (decimals allowed), milliseconds, microseconds or nanoseconds, told apart by the number of
 * digits; `@` in front makes it seconds. A bare count of fewer than nine digits is assumed to be seconds (low) or, with
 * fewer than five, is left alone, because it could be a year or an hour. @throws RangeError beyond the calendar.
 */
export function readUnix(text: string, zone: string): Reading | undefined {
  const [, at, sign, digits = "", decimals] = PATTERN.exec(text) ?? [];
  const isMarked = Boolean(at || sign) || text === "0";
  if (digits === "" || (!isMarked && digits.length < (decimals ? 9 : 5))) return undefined;
  const [, scale = SECOND] = at ? [] : (SCALES.find(([maxDigits]) => digits.length <= maxDigits) ?? []);
  if (decimals !== undefined && scale !== SECOND) return undefined;
  const count = BigInt(digits) * scale + BigInt((decimals ?? "").padEnd(9, "0"));
  const instant = Temporal.Instant.fromEpochNanoseconds(sign ? -count : count);
  return toExactReading(instant, zone, isMarked || digits.length >= 9 ? "high" : "low");
}
