import { Temporal } from "temporal-polyfill";
import { unclear } from "../reading.ts";
import { MONTH, takeMatch, WEEKDAY } from "../vocabulary.ts";
import { takePart } from "./day-parts.ts";

/** A time of day that a text names. */
export interface TimeOfDay {
  readonly time: Temporal.PlainTime;
  /** Whether the time is at the end of the named day: 24:00, or the midnight of "tonight". */
  readonly isNextDay: boolean;
  /** Whether a text without a day means today, even when the time is over: "end of day". */
  readonly isToday: boolean;
  readonly assumptions: readonly string[];
}

const BEFORE = "(?<![\\d:.,/-])(?<!\\bin )(?:\\bat )?(?:about )?";
const AFTER = "(?![\\d:/-]|\\.\\d)";
const MILITARY = "(?<hour>[01]\\d|2[0-3])(?<minute>[0-5]\\d)";
/** A day of a month, behind which four digits are a year or a time. */
const DATE = `(?:${MONTH} (?:the )?\\d{1,2}(?:st|nd|rd|th)?|\\d{1,2}(?:st|nd|rd|th)? (?:of )?${MONTH})`;
const MERIDIEM = " ?(?<meridiem>am|pm)\\b";

type Groups = Readonly<Record<string, string | undefined>>;
interface Time {
  readonly hour: number;
  readonly minute?: number;
  readonly second?: number;
  readonly millisecond?: number;
  readonly microsecond?: number;
  /** Whether the text says am or pm, or the hour exists only on a 24-hour clock. */
  readonly isExact: boolean;
  /** Whether the hour has two digits, as on 24-hour clocks: 09:30. */
  readonly isPadded?: boolean;
  readonly assumption?: string;
  readonly isToday?: boolean;
}

/** In the order in which they are tried. */
const FORMS: readonly (readonly [RegExp, (groups: Groups) => Time])[] = [
  [
    new RegExp(
      `${BEFORE}(?<hour>\\d{1,2})[:.h](?<minute>\\d\\d)(?:[:.](?<second>\\d\\d)(?:[.,](?<fraction>\\d{1,9}))?)?${MERIDIEM}`,
    ),
    toTime,
  ],
  [new RegExp(`${BEFORE}(?<hour>\\d{1,2})${MERIDIEM}`), toTime],
  [
    new RegExp(
      `${BEFORE}(?<hour>\\d{1,2}):(?<minute>\\d\\d)(?::(?<second>\\d\\d)(?:[.,](?<fraction>\\d{1,9}))?)?${AFTER}(?: (?:hours|hrs|h))?`,
    ),
    toTime,
  ],
  // Behind a date alone: elsewhere it could be one.
  [/(?<=\d{4}(?:-\d\d-\d\d)?,? )(?:at )?(?<hour>\d\d)\.(?<minute>\d\d)\.(?<second>\d\d)(?![\d:/.-])/, toTime],
  [
    /(?<![\d:.,/-])(?<!\bin )(?:\bat )?(?<hour>\d{1,2}) ?h ?(?<minute>[0-5]\d)?(?![a-z\d])/,
    (groups) => ({ ...toTime(groups), isExact: true }),
  ],
  [new RegExp(`${BEFORE}(?<hour>\\d{1,2}) o'clock(?: in the| at)?`), toTime],
  [
    new RegExp(`(?<![\\d:.,/-])\\bat (?:about )?(?<hour>\\d{1,2})(?:\\.(?<minute>\\d\\d))?${AFTER}(?!(?:st|nd|rd|th))`),
    toTime,
  ],
  [/(?:\bat )?midnight\b/, () => ({ hour: 0, isExact: true, assumption: MIDNIGHT })],
  [
    new RegExp(
      `(?<=(?:today|tomorrow|yesterday|${WEEKDAY}(?!,? (?:19|20))|(?:${DATE},? |\\d[./-])[1-9]\\d{3}),? )${MILITARY}$`,
    ),
    toMilitary,
  ],
  [new RegExp(`(?<=^|${DATE},? )(?=0)${MILITARY}$`), toMilitary],
  [
    new RegExp(`^${MILITARY}(?=,? (?:on )?(?:today|tomorrow|yesterday|${WEEKDAY}|${DATE},? [1-9]\\d{3})\\b)`),
    toMilitary,
  ],
  [new RegExp(`^(?=0)${MILITARY}(?=,? (?:on )?${DATE}\\b)`), toMilitary],
  [
    /(?:\b(?:at|by) )?\b(?:cob)\b/,
    () => ({ hour: 17, isExact: true, assumption: "Close of business is taken as 17:00" }),
  ],
  [
    /(?:\bat )?(?:the )?\b(?:start|opening|beginning) of (?:the )?business(?: day)?\b/,
    () => ({ hour: 9, isExact: true, assumption: "Start of business is taken as 09:00" }),
  ],
  [/\b(?:first|1th) thing\b/, () => ({ hour: 9, isExact: true, assumption: "First thing is taken as 09:00" })],
  [
    /(?:\b(?:at|by) )?(?:the )?\bend of (?:the )?day\b/,
    () => ({ hour: 23, minute: 59, second: 59, isExact: true, isToday: true }),
  ],
  [/(?:\bat )?(?:the )?\b(?:start|beginning) of (?:the )?day\b/, () => ({ hour: 0, isExact: true, isToday: true })],
];

const MIDNIGHT = "Midnight is taken as the start of the day";

/** Takes the time of day out of a text. @param text plainly spelled. @throws Problem `unparseable-input`, RangeError. */
export function takeClock(text: string): { readonly clock: TimeOfDay | undefined; readonly rest: string } {
  const { part, rest } = takePart(text);
  const found = findTime(rest);
  if (!found) {
    if (!part) return { clock: undefined, rest };
    const assumptions = [`The ${part.name} is taken as ${String(part.hour).padStart(2, "0")}:00`];
    const time = Temporal.PlainTime.from({ hour: part.hour });
    return { clock: { time, isNextDay: false, isToday: false, assumptions }, rest };
  }
  const { hour, isExact, isPadded = false, assumption, isToday = false, ...smaller } = found.time;
  const isTonight = part?.name === "night" && hour === 0 && assumption === MIDNIGHT;
  const meant = part && !isTonight ? toHour(hour, isExact, part) : hour;
  const isNextDay = isTonight || (meant === 24 && !smaller.minute && !smaller.second);
  const time = Temporal.PlainTime.from({ hour: isNextDay ? 0 : meant, ...smaller }, { overflow: "reject" });
  const guess = isTonight
    ? "Midnight is taken as the end of the day"
    : (assumption ?? (isExact || isPadded || part ? undefined : `${toText(time)} is read on a 24-hour clock`));
  return { clock: { time, isNextDay, isToday, assumptions: guess === undefined ? [] : [guess] }, rest: found.rest };
}

const toText = (time: Temporal.PlainTime): string => time.toString({ smallestUnit: "minute" });

function findTime(text: string): { readonly time: Time; readonly rest: string } | undefined {
  for (const [pattern, toTime] of FORMS) {
    const match = pattern.exec(text);
    if (match) return { time: toTime(match.groups ?? {}), rest: takeMatch(text, match) };
  }
  return undefined;
}

function toTime({ hour = "", minute, second, fraction = "", meridiem }: Groups): Time {
  const number = Number(hour);
  if (meridiem !== undefined && (number < 1 || number > 12)) throw unclear(`With ${meridiem} the hour is 1 to 12`);
  const isTwelveHour = meridiem !== undefined;
  return {
    hour: isTwelveHour ? (number % 12) + (meridiem === "pm" ? 12 : 0) : number,
    ...(minute !== undefined && { minute: Number(minute) }),
    ...(second !== undefined && { second: Number(second) }),
    ...(fraction !== "" && {
      millisecond: Number(fraction.padEnd(9, "0").slice(0, 3)),
      microsecond: Number(fraction.padEnd(9, "0").slice(3, 6)),
    }),
    isExact: isTwelveHour || number > 12 || number === 0,
    isPadded: hour.length === 2 && minute !== undefined,
  };
}

function toMilitary(groups: Groups): Time {
  return { ...toTime(groups), isExact: true };
}

/** The hour on a 24-hour clock. @throws Problem `unparseable-input` when the hour is not within the part of the day. */
function toHour(
  hour: number,
  isExact: boolean,
  { name, first, last }: NonNullable<ReturnType<typeof takePart>["part"]>,
): number {
  const readings = isExact ? [hour] : [hour, (hour + 12) % 24];
  const found = readings.find((reading) => reading >= first && reading <= last);
  if (found !== undefined) return found;
  throw unclear(
    isExact
      ? `The text names a time that is not in the ${name}`
      : `${hour} o'clock is not in the ${name}: write the time with am or pm`,
  );
}
