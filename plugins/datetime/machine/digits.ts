import { Temporal } from "temporal-polyfill";
import { type Grounds, MACHINE, type Reading, toExactReading, toReading } from "../reading.ts";
import { toWall } from "./wall.ts";

const COUNT = /^(@)?([-−]?)(\d{1,20})(?:\.(\d{1,9}))?$/;
/** Python's `%Y%m%d%H%M%S%f` and its shorter forms, with or without a mark between date and time. */
const COMPACT = /^(\d{4})(\d\d)(\d\d)(?:[ _-]?(\d\d)(\d\d)(\d\d)?(?:[.,]?(\d{3}|\d{6}|\d{9}))?)$/;
/** WMI and CIM: `20270217140509.000000+060`, the offset in minutes. */
const CIM = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\.(\d{6})([+-])(\d{3})$/;

/** A unit and an epoch in which programs count. `low` and `high` bound the plausible counts. */
interface Scale {
  readonly name: string;
  readonly nanoseconds: bigint;
  /** Unix nanoseconds at the count of zero. */
  readonly epoch: bigint;
}

const SECOND = 1_000_000_000n;
const SECONDS: Scale = { name: "Unix seconds", nanoseconds: SECOND, epoch: 0n };
/** In the order in which they are tried: the first whose moment lies in 1970 to 2100 is taken. */
const SCALES: readonly Scale[] = [
  SECONDS,
  { name: "Unix milliseconds", nanoseconds: 1_000_000n, epoch: 0n },
  { name: "Unix microseconds", nanoseconds: 1_000n, epoch: 0n },
  { name: "Unix nanoseconds", nanoseconds: 1n, epoch: 0n },
];
/** Microseconds and 100 ns since 1601, and 100 ns since the year 1: of 17 or 18 digits, which no Unix clock shows today. */
const OLD_SCALES: readonly Scale[] = [
  { name: "microseconds since 1601 (WebKit)", nanoseconds: 1_000n, epoch: -11_644_473_600n * SECOND },
  { name: "100 ns since 1601 (Windows FILETIME)", nanoseconds: 100n, epoch: -11_644_473_600n * SECOND },
  { name: "100 ns since the year 1 (.NET ticks)", nanoseconds: 100n, epoch: -62_135_596_800n * SECOND },
];
const RECENT = { since: 946_684_800n * SECOND, until: 4_102_444_800n * SECOND } as const; // 2000 to 2100

/**
 * Reads digits by plausibility: compact dates with times (`20270217140509`), and Unix time in seconds (decimals allowed),
 * milliseconds, microseconds or nanoseconds. `@` in front makes it seconds. Undefined for fewer than five digits, which
 * could be a year or an hour. @throws RangeError beyond the calendar.
 */
export function readDigits(text: string, zone: string): Reading | undefined {
  return readCim(text, zone) ?? readCompact(text, zone) ?? readCount(text, zone);
}

function readCim(text: string, zone: string): Reading | undefined {
  const [, year, month, day, hour = "", minute, second, fraction, sign, minutes] = CIM.exec(text) ?? [];
  if (minutes === undefined) return undefined;
  const date = Temporal.PlainDate.from(toNumbers({ year, month, day }), { overflow: "reject" });
  const utc = toWall(date, { hour, minute, second, fraction }).toZonedDateTime("UTC");
  return toExactReading(utc.subtract({ minutes: Number(`${sign}${minutes}`) }).toInstant(), zone);
}

/** Undefined when the digits are no date in 1970 to 2100: then they are a count. */
function readCompact(text: string, zone: string): Reading | undefined {
  const [, year, month, day, hour = "", minute, second, fraction] = COMPACT.exec(text) ?? [];
  if (minute === undefined || Number(year) < 1970 || Number(year) > 2100) return undefined;
  try {
    const date = Temporal.PlainDate.from(toNumbers({ year, month, day }), { overflow: "reject" });
    const wall = toWall(date, { hour, minute, second, fraction });
    return toReading(wall.toPlainDate(), wall.toPlainTime(), zone, MACHINE);
  } catch {
    return undefined;
  }
}

const toNumbers = ({ year, month, day }: Readonly<Record<"year" | "month" | "day", string | undefined>>) => ({
  year: Number(year),
  month: Number(month),
  day: Number(day),
});

function readCount(text: string, zone: string): Reading | undefined {
  const [, at, sign, digits = "", decimals] = COUNT.exec(text) ?? [];
  const isMarked = Boolean(at || sign) || text === "0";
  if (digits === "" || (!isMarked && digits.length < (decimals ? 9 : 5))) return undefined;
  if (!isMarked && (digits.length === 7 || digits.length === 8)) {
    // An ordinal or a calendar date is likelier.
    if (/^(?:19[7-9]\d|20\d\d)(?:(?:0\d|1[0-2])(?:[0-2]\d|3[01])|[0-3]\d\d)$/.test(digits)) return undefined;
  }
  const scale = at || decimals !== undefined ? SECONDS : toScale(digits);
  const fraction = BigInt((decimals ?? "").padEnd(9, "0"));
  const count = BigInt(digits) * scale.nanoseconds + (sign ? -1n : 1n) * scale.epoch + fraction;
  const instant = Temporal.Instant.fromEpochNanoseconds(sign ? -count : count);
  return toExactReading(instant, zone, toGrounds(digits, scale, isMarked));
}

/** The scale that puts the count between 2000 and 2100, or else the one that its number of digits suggests. */
function toScale(digits: string): Scale {
  const count = BigInt(digits);
  const isRecent = ({ nanoseconds, epoch }: Scale): boolean => {
    const at = count * nanoseconds + epoch;
    return at >= RECENT.since && at < RECENT.until;
  };
  const old = digits.length === 17 || digits.length === 18 ? OLD_SCALES.find(isRecent) : undefined;
  const [seconds, milliseconds, microseconds, nanoseconds] = SCALES as [Scale, Scale, Scale, Scale];
  const byLength =
    digits.length <= 10
      ? seconds
      : digits.length <= 13
        ? milliseconds
        : digits.length <= 16
          ? microseconds
          : nanoseconds;
  return old ?? SCALES.find(isRecent) ?? byLength;
}

/** Nine digits of seconds are 1973 and later; all other scales are sure only with the digits that they have since 2001. */
function toGrounds(digits: string, { name, epoch }: Scale, isMarked: boolean): Grounds {
  const isUsual = [9, 10, 13, 16, 19].includes(digits.length) && epoch === 0n;
  if (isMarked || isUsual) return MACHINE;
  return { isMachine: true, assumptions: [`${digits} is read as ${name}`] };
}
