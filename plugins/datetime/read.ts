import type { Temporal } from "temporal-polyfill";
import { readDigits } from "./machine/digits.ts";
import { readIso } from "./machine/iso.ts";
import { readProgram } from "./machine/programs.ts";
import { readPhrase } from "./phrase/phrase.ts";
import { toPlainSpelling } from "./phrase/spelling.ts";
import { type Reading, unclear } from "./reading.ts";
import { takeZone, type ZoneInText } from "./zones/zones.ts";

/**
 * The moment that a text names. @param base now, in the zone for texts that name none.
 * @throws Problem `unparseable-input` when a part of the text is not understood, or names a date that does not exist.
 */
export function read(input: string, base: Temporal.ZonedDateTime): Reading {
  const text = unquote(input.replaceAll(FULL_WIDTH, toNarrow).trim().replaceAll(/\s+/g, " "));
  try {
    return readMachine(text, base) ?? readMonths(text, base) ?? readEnglish(toPlainSpelling(text), base);
  } catch (error) {
    if (error instanceof RangeError) throw unclear("The text names a date or a time that does not exist", error);
    throw error;
  }
}

/** ASCII as Japanese input methods write it. */
const FULL_WIDTH = /[！-～]/g;
const toNarrow = (wide: string): string => String.fromCharCode(wide.charCodeAt(0) - 0xfee0);

/** The text without the quotes or brackets around it. */
const unquote = (text: string): string =>
  /^(?:"(.+)"|'(.+)'|`(.+)`|“(.+)”|\[(\d.+)\])$/.exec(text)?.slice(1).find(Boolean) ?? text;

const readMachine = (text: string, base: Temporal.ZonedDateTime): Reading | undefined =>
  readDigits(text, base.timeZoneId) ?? readIso(text, base.timeZoneId) ?? readProgram(text, base);

/** In date math ("now-1M", "1y2M ago") M is months, and m minutes. */
const MONTHS = /(?<=\d ?)M(?![a-zA-Z])/g;

/** Reads a text with such an M; undefined for any other, and where all letters are capitals. */
function readMonths(text: string, base: Temporal.ZonedDateTime): Reading | undefined {
  const others = text.replaceAll(MONTHS, "");
  if (others === text || (/[A-Z]/.test(others) && !/[a-z]/.test(others))) return undefined;
  const reading = readEnglish(toPlainSpelling(text.replaceAll(MONTHS, "mo")), base);
  return { ...reading, assumptions: [...reading.assumptions, "M is read as months; m would be minutes"] };
}

function readEnglish(text: string, base: Temporal.ZonedDateTime): Reading {
  const { zone = base.timeZoneId, rest, assumptions } = withTime(takeZone(text));
  const local = base.withTimeZone(zone);
  const reading = readIso(rest, zone) ?? readPhrase(rest, { now: local, asked: base.toPlainDate(), depth: 0 });
  return { ...reading, assumptions: [...assumptions, ...reading.assumptions] };
}

const CLOCK_UNIT = "(?:\\b|\\d)(?:hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)";
const FOUR_DIGITS = new RegExp(`(?:^|(?<=${CLOCK_UNIT} (?:before|after|from) ))([01]\\d|2[0-3])([0-5]\\d)$`);

/** Four digits and a zone are a time, as in "1530 UTC" and "an hour after 1530 UTC"; days and years are counted from a year. */
function withTime(found: ZoneInText): ZoneInText {
  const [digits, hour, minute] = FOUR_DIGITS.exec(found.rest) ?? [];
  if (found.zone === undefined || digits === undefined) return found;
  const assumptions = [...found.assumptions, `${digits} is read as a time of day, not as a year`];
  return { ...found, rest: `${found.rest.slice(0, -4)}${hour}:${minute}`, assumptions };
}
