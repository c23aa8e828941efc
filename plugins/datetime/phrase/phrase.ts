import { Temporal } from "temporal-polyfill";
import { readDigits } from "../machine/digits.ts";
import { readIso } from "../machine/iso.ts";
import { PHRASE, type Reading, toReading, toRepeated, unclear } from "../reading.ts";
import { type TimeOfDay, takeClock } from "./clock.ts";
import type { NamedDay, PhraseContext, ReadAnchor } from "./day.ts";
import { takeDay } from "./days.ts";
import { takeShift } from "./shifts.ts";

const MAX_DEPTH = 3;
const LAST_SECOND = Temporal.PlainTime.from("23:59:59");
const NOW =
  /^(?:just |right )?now$|^(?:at )?(?:the (?:current|present)|this) (?:time|moment)$|^(?:currently|immediately|at present)$/;
const SAME_TIME =
  /(?<!\b(?:before|after|from|following) ?),? ?(?:\bat )?\b(?:(?:about |around )?(?:this|the same|same|this same) (?:time|hour))(?: of day)?\b(?: on)?,? ?/;
const ROUGHLY = /(?<=^| )(?:around|about|approximately|approx\.?|roughly|circa|ca\.?(?![a-z])|~) ?(?=[\dt◇a-z])/;
const BY = /^by (?=.*(?:\d|cob|end of))/;
/** Words and punctuation that may remain when all pieces are taken. */
const GLUE = /^(?:◇|[ ,.-]|\b(?:at|on|the|of|in)\b(?= ?,? ?◇))*$/;

/**
 * Reads a phrase: a day, a time of day, both, or a moment counted from another one. Every word must be understood.
 * @param text plainly spelled and without a zone. @throws Problem `unparseable-input`; RangeError when there is no such day.
 */
export function readPhrase(text: string, context: PhraseContext): Reading {
  const { now, depth } = context;
  if (depth > MAX_DEPTH) throw unclear("The text counts from a moment that counts from a moment too often");
  if (NOW.test(text)) return { at: now, isWholeDay: false, ...PHRASE };
  if (ROUGHLY.test(text))
    return assuming(readPhrase(text.replace(ROUGHLY, ""), deeper(context)), "The text is not exact");
  if (BY.test(text))
    return assuming(readPhrase(text.replace(BY, ""), deeper(context)), "A deadline is taken as its moment");
  if (SAME_TIME.test(text) && !SAME_TIME.test(text.replace(SAME_TIME, ""))) return readSameTime(text, context);
  const readAnchor: ReadAnchor = (anchor) => readAnchorPhrase(anchor, context);
  const shifted = takeShift(text, context, readAnchor);
  if (shifted) {
    const { clock, rest } = takeClock(shifted.rest);
    checkGlue(rest);
    if (clock === undefined) return shifted.reading;
    if (!shifted.takesClock) throw unclear("The text has a time of day and a moment counted in hours");
    return atClock(shifted.reading, clock);
  }
  const { clock, rest } = takeClock(text);
  const { day, rest: left } = takeDay(rest, now.toPlainDate(), readAnchor);
  checkGlue(left);
  return toPhrase(day, clock, context, isSameFor(context, rest, day, readAnchor));
}

const deeper = (context: PhraseContext): PhraseContext => ({ ...context, depth: context.depth + 1 });

const assuming = (reading: Reading, assumption: string): Reading => ({
  ...reading,
  assumptions: [...reading.assumptions, assumption],
});

function readAnchorPhrase(anchor: string, context: PhraseContext): Reading {
  const zone = context.now.timeZoneId;
  const reading = readDigits(anchor, zone) ?? readIso(anchor, zone) ?? readPhrase(anchor, deeper(context));
  return { ...reading, isMachine: false };
}

/** "This time tomorrow", "same time next Friday". */
function readSameTime(text: string, context: PhraseContext): Reading {
  const rest = text.replace(SAME_TIME, " ").trim();
  const unit = /^(next|last) (week|month|year)$/.exec(rest);
  const phrase = unit ? `today ${rest}` : rest;
  const { at, isWholeDay, assumptions } = readPhrase(phrase, deeper(context));
  if (!isWholeDay) throw unclear("The text names two times of day");
  const { now } = context;
  return toReading(at.toPlainDate(), now.toPlainTime(), now.timeZoneId, { isMachine: false, assumptions });
}

function atClock({ at, assumptions }: Reading, { time, isNextDay, assumptions: more }: TimeOfDay): Reading {
  const date = at.toPlainDate().add({ days: Number(isNextDay) });
  return toReading(date, time, at.timeZoneId, { isMachine: false, assumptions: [...assumptions, ...more] });
}

function checkGlue(left: string): void {
  if (GLUE.test(left)) return;
  const unknown = left.match(/[^\s◇,]+/g)?.find((word) => !/^(?:at|on|the|of|in)$/.test(word));
  throw unclear(unknown === undefined ? "The text names no moment" : `"${unknown}" is not understood where it stands`);
}

/** Whether the day is the same one in the zone of the request, where today can be another date. */
function isSameFor(
  { now, asked }: PhraseContext,
  text: string,
  day: NamedDay | undefined,
  anchor: ReadAnchor,
): boolean {
  if (day === undefined || now.toPlainDate().equals(asked)) return true;
  const other = takeDay(text, asked, anchor).day;
  return other?.dates[0] !== undefined && day.dates[0]?.equals(other.dates[0]) === true;
}

function toPhrase(
  day: NamedDay | undefined,
  clock: TimeOfDay | undefined,
  { now }: PhraseContext,
  isSame: boolean,
): Reading {
  if (!day && !clock) throw unclear("The text names no moment");
  const today = now.toPlainDate();
  const dates = day?.dates ?? (clock?.isToday ? [today] : [today, today.add({ days: 1 })]);
  const time = clock?.time ?? (day?.isEnd ? LAST_SECOND : day?.keepsClock ? now.toPlainTime() : undefined);
  const assumptions = [
    ...(day ? (day.assumptions ?? []) : clock?.isToday ? [] : ["The next such time is taken"]),
    ...(clock?.assumptions ?? []),
    ...(isSame ? [] : [`The day is the one in ${now.timeZoneId}`]),
  ];
  const grounds = { isMachine: false, assumptions };
  const readings = dates.map((date) => {
    const reading = toReading(clock?.isNextDay ? date.add({ days: 1 }) : date, time, now.timeZoneId, grounds);
    const [last] = clock || !day?.isEnd ? [] : toRepeated(reading);
    return last ? { ...last, ...grounds } : reading; // The end of a day whose last hour comes twice.
  });
  const isOver = ({ at, isWholeDay }: Reading): boolean =>
    Temporal.ZonedDateTime.compare(at, isWholeDay ? now.startOfDay() : now) < 0;
  const both = readings.flatMap((reading) => [reading, ...toRepeated(reading)]);
  const found = readings.length > 1 ? both.find((reading) => !isOver(reading)) : readings[0];
  if (!found) throw unclear("The text names no day that is not over");
  return found;
}
