import { Temporal } from "temporal-polyfill";
import { COUNT, type Grounds, type Reading, toExactReading, unclear } from "../reading.ts";
import { readCompact } from "./compact.ts";

const DIGITS = /^(@)?([-−]?)(\d{1,20})(?:\.(\d{1,9}))?$/;
/** A count with its unit. */
const NAMED_COUNT =
  /^(?:(?:(?:unix|epoch|posix)(?: (?:time(?:stamp)?|epoch|seconds?))?|timestamp) ?[:=]? ?)(\d{9,20}(?:\.\d{1,9})?)$/i;
const COUNT_WITH_UNIT = /^(\d{9,20}) ?(s|secs?|seconds?|ms|milliseconds?|us|µs|μs|microseconds?|ns|nanoseconds?)$/i;

/** A unit and an epoch that programs use. `low` and `high` bound the plausible counts. */
interface Scale {
  readonly name: string;
  readonly nanoseconds: bigint;
  /** Unix nanoseconds at the count of zero. */
  readonly epoch: bigint;
}

/**
 * The first and the last second of the years 1 to 9999, with three digits for each smaller unit. Programs write them for
 * "never": Go and .NET the first, databases the last.
 */
const NEVER = /^(?:-62135596800(0{3}|0{6})?|253402300799(\d{3}|\d{6})?)$/;

const SECOND = 1_000_000_000n;
const SECONDS: Scale = { name: "Unix seconds", nanoseconds: SECOND, epoch: 0n };
/** In the order in which they are tried. The first one that gives a moment from 1970 to 2100 is taken. */
const SCALES: readonly Scale[] = [
  SECONDS,
  { name: "Unix milliseconds", nanoseconds: 1_000_000n, epoch: 0n },
  { name: "Unix microseconds", nanoseconds: 1_000n, epoch: 0n },
  { name: "Unix nanoseconds", nanoseconds: 1n, epoch: 0n },
];
/**
 * Microseconds and 100 ns since 1601, and 100 ns since the year 1. They have 17 or 18 digits, which no current Unix
 * time has.
 */
const OLD_SCALES: readonly Scale[] = [
  { name: "microseconds since 1601 (WebKit)", nanoseconds: 1_000n, epoch: -11_644_473_600n * SECOND },
  { name: "100 ns since 1601 (Windows FILETIME)", nanoseconds: 100n, epoch: -11_644_473_600n * SECOND },
  { name: "100 ns since the year 1 (.NET ticks)", nanoseconds: 100n, epoch: -62_135_596_800n * SECOND },
];
const RECENT = { since: 946_684_800n * SECOND, until: 4_102_444_800n * SECOND } as const; // 2000 to 2100

/**
 * Reads digits by plausibility: compact dates with and without times (`20270217140509`), and Unix time in seconds
 * (decimals allowed), milliseconds, microseconds or nanoseconds. A leading `@` means seconds. Undefined for fewer than
 * five digits, which could be a year or an hour. @throws RangeError beyond the calendar; Problem `unparseable-input`
 * for digits that begin like a date that does not exist.
 */
export function readDigits(text: string, zone: string): Reading | undefined {
  const known = readCompact(text, zone) ?? readNamed(text, zone);
  const reading = known ?? readCount(text, zone);
  return reading && !known && DATE_AND_HOUR.test(text) ? { ...reading, ...toGuess(text, SECONDS) } : reading;
}

/** Unix seconds of 2030 to 2036 that can as well be a date and an hour: 2026112014. */
const DATE_AND_HOUR = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])$/;

/** Counts that are marked as Unix time or have a unit. */
function readNamed(text: string, zone: string): Reading | undefined {
  const [, count] = NAMED_COUNT.exec(text) ?? [];
  if (count !== undefined) return readCount(count, zone);
  const [, digits, unit = ""] = COUNT_WITH_UNIT.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const scale =
    SCALES[["s", "m", "u", "n"].indexOf(unit.toLowerCase().replace(/^[µμ]/, "u").replace("micro", "u").slice(0, 1))];
  if (!scale) return undefined;
  const grounds = isRecent(BigInt(digits), scale) ? COUNT : toGuess(digits, scale);
  return toExactReading(Temporal.Instant.fromEpochNanoseconds(BigInt(digits) * scale.nanoseconds), zone, grounds);
}

function readCount(text: string, zone: string): Reading | undefined {
  const [, at, sign, digits = "", decimals] = DIGITS.exec(text) ?? [];
  const isMarked = Boolean(at || sign) || text === "0";
  if (digits === "" || (!isMarked && digits.length < (decimals ? 9 : 5))) return undefined;
  if (!isMarked && (digits.length === 7 || digits.length === 8)) {
    // An ordinal or a calendar date is likelier; databases write 9999 for "never".
    if (/^(?:19\d\d|20\d\d|9999)(?:(?:0\d|1[0-2])(?:[0-2]\d|3[01])|[0-3]\d\d)$/.test(digits)) return undefined;
  }
  if (!isMarked && !decimals && /^(?:19|20)(?:\d{6}|\d{10}|\d{12})$/.test(digits))
    throw unclear(`${digits} begins like a date, and there is no such date`);
  const signed = `${sign ? "-" : ""}${digits}`;
  const scale = at || decimals !== undefined ? SECONDS : (toNeverScale(signed) ?? toScale(digits));
  const fraction = BigInt((decimals ?? "").padEnd(9, "0"));
  const count = BigInt(digits) * scale.nanoseconds + (sign ? -1n : 1n) * scale.epoch + fraction;
  const instant = Temporal.Instant.fromEpochNanoseconds(sign ? -count : count);
  return toExactReading(instant, zone, at ? COUNT : toGrounds(signed, scale));
}

/** The scale of a count that means "never"; undefined for other counts. */
function toNeverScale(signed: string): Scale | undefined {
  const [found, first = "", last = ""] = NEVER.exec(signed) ?? [];
  return found === undefined ? undefined : SCALES[(first || last).length / 3];
}

function isRecent(count: bigint, { nanoseconds, epoch }: Scale): boolean {
  const at = count * nanoseconds + epoch;
  return at >= RECENT.since && at < RECENT.until;
}

/** The scale that puts the count between 2000 and 2100, or else the one that its number of digits suggests. */
function toScale(digits: string): Scale {
  const isFit = (scale: Scale): boolean => isRecent(BigInt(digits), scale);
  const old = digits.length === 17 || digits.length === 18 ? OLD_SCALES.find(isFit) : undefined;
  const [seconds, milliseconds, microseconds, nanoseconds] = SCALES as [Scale, Scale, Scale, Scale];
  const byLength =
    digits.length <= 10
      ? seconds
      : digits.length <= 13
        ? milliseconds
        : digits.length <= 16
          ? microseconds
          : nanoseconds;
  return old ?? SCALES.find(isFit) ?? byLength;
}

/**
 * A count is certain when it has as many digits as Unix time has had since 2001 (in seconds, since 1973), or is 0, or
 * negative with fewer. Any other count is a guess.
 */
function toGrounds(signed: string, scale: Scale): Grounds {
  const length = signed.replace("-", "").length;
  const isUsual = [9, 10, 13, 16, 19].includes(length) && scale.epoch === 0n;
  const isSmall = length < 9 && (signed.startsWith("-") || signed === "0");
  return isUsual || isSmall ? COUNT : toGuess(signed, scale);
}

const toGuess = (digits: string, { name }: Pick<Scale, "name">): Grounds => ({
  isMachine: true,
  assumptions: [`${digits} is read as ${name}`],
});
