import type { Component, ParsedComponents } from "chrono-node";
import { Temporal } from "temporal-polyfill";
import { unclear } from "../reading.ts";
import { MONTH, WEEKDAY } from "./vocabulary.ts";

/** What a text says of a date and a time of day; undefined is what it does not say. */
export interface Said {
  readonly year: number | undefined;
  readonly month: number | undefined;
  readonly day: number | undefined;
  /** 1 = Monday. */
  readonly weekday: number | undefined;
  readonly time: Temporal.PlainTime | undefined;
  /** The hour is one of 24, or has am or pm. */
  readonly isExact: boolean;
  /** Nobody reads the time in two ways. */
  readonly isUnambiguous: boolean;
  /** The year has two digits. */
  readonly hasShortYear: boolean;
}

/** All that may stand in the text: what the recognizer makes of other words is not to be trusted. */
const KNOWN_WORD = new RegExp(`^(?:${MONTH}|${WEEKDAY}|am|pm|at|on|of|the|st|nd|rd|th|o'clock)$`);
const KNOWN_SIGNS = /^[a-z\d :.,/'-]*$/;
const MAX_LENGTH = 80;
const TWO_DIGIT_HOUR = /(?<![\d:])[01]\d:\d\d/;
const HOUR_ZERO_OF_TWELVE = /(?<![\d:.])00?(?:[:.]\d\d){0,2} ?[ap]m/;
/** Only what the text itself says is used: the reference is a leap year, so that no day is missing from it. */
const REFERENCE = { instant: new Date(Date.UTC(2000, 5, 15, 12)), timezone: 0 };

/**
 * Month names, weekdays, ISO dates and times of day, in any order; of an empty text, nothing. @param text plainly
 * spelled. @throws Problem `unparseable-input` unless the whole text is one date, one time or both.
 */
export async function recognize(text: string): Promise<Said> {
  const start = text === "" ? undefined : await parse(text);
  const said = (name: Component): number | undefined =>
    start?.isCertain(name) ? (start.get(name) ?? undefined) : undefined;
  const [year, weekday, hour] = [said("year"), said("weekday"), said("hour")];
  const isExact = said("meridiem") !== undefined || hour === 0;
  const smaller = { minute: said("minute") ?? 0, second: said("second") ?? 0, millisecond: said("millisecond") ?? 0 };
  return {
    year,
    month: said("month"),
    day: said("day"),
    weekday: weekday === 0 ? 7 : weekday,
    time: hour === undefined ? undefined : Temporal.PlainTime.from({ hour, ...smaller }),
    isExact,
    isUnambiguous: isExact || TWO_DIGIT_HOUR.test(text),
    hasShortYear: year !== undefined && !text.includes(String(year)),
  };
}

async function parse(text: string): Promise<ParsedComponents> {
  const unknown = text.match(/[a-z']+/g)?.find((word) => !KNOWN_WORD.test(word));
  if (unknown) throw unclear(`"${unknown}" is not understood where it stands`);
  if (text.length > MAX_LENGTH || !KNOWN_SIGNS.test(text)) throw unclear("The text is more than a date and a time");
  if (HOUR_ZERO_OF_TWELVE.test(text)) throw unclear("With am or pm there is no hour zero");
  const { casual } = await import("chrono-node/en");
  const [result, ...others] = casual.parse(text, REFERENCE);
  if (!result || others.length > 0) throw unclear("The text is not one date, one time, or one of each");
  if (result.end) throw unclear("The text names a span of time, and not one moment");
  const before = text.slice(0, result.index);
  const after = text.slice(result.index + result.text.length);
  if (!/^(?:(?:on|at|the) )*$/.test(before) || !/^[ ,]*$/.test(after))
    throw unclear("Only a part of the text is a date or a time");
  return result.start;
}
