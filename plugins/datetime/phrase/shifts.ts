import type { Temporal } from "temporal-polyfill";
import { PHRASE, type Reading, toNamedWall, toReading, unclear } from "../reading.ts";
import { takeMatch, WEEKDAY } from "../vocabulary.ts";
import { BUSINESS } from "./business-days.ts";
import { explainClamp, type PhraseContext, type ReadAnchor } from "./day.ts";
import { DURATION, type Duration, readDuration } from "./durations.ts";

/** A moment counted from another one. */
export interface Shifted {
  readonly reading: Reading;
  /** The text without the shift. */
  readonly rest: string;
  /** Whether the shift is in whole days from now, so that the text may also have a time of day ("in 3 days at 5pm"). */
  readonly takesClock: boolean;
}

interface Shift {
  readonly duration: string;
  readonly sign: 1 | -1;
  /** The phrase from which the shift counts; undefined for now. */
  readonly anchor?: string | undefined;
  /** Whether the shift counts from a whole day ("a year ago today"): not in hours, since its midnight is not meant. */
  readonly isFromDay?: boolean;
}

type Groups = Readonly<Record<string, string | undefined>>;
const LENGTH = `(?<duration>${DURATION})`;
const ONE = `(?<!${BUSINESS} )(?<duration>(?:day|week|month|year|hour|minute))`;

/** In the order in which they are tried. */
const FORMS: readonly (readonly [RegExp, (groups: Groups) => Shift])[] = [
  [new RegExp(`^now ?(?<sign>[+-]) ?${LENGTH}$|^(?<sign>[+-]) ?(?<duration>${DURATION})$`), signed],
  [new RegExp(`^(?<anchor>.+?) (?<sign>[+-]) ?${LENGTH}$`), signed],
  [
    new RegExp(
      `\\b(?<anchor>today|tomorrow|yesterday) (?:in )?${LENGTH} ago\\b|\\b(?<duration>${DURATION}) ago,? (?<anchor>today|tomorrow|yesterday|last ${WEEKDAY})\\b`,
    ),
    (groups) => ({ ...toShift(groups, -1), isFromDay: true }),
  ],
  [
    new RegExp(
      `\\b${LENGTH} (?:from )?(?<anchor>today|tomorrow)\\b|\\b(?<anchor>today|tomorrow) in (?<duration>${DURATION})`,
    ),
    (groups) => ({ ...toShift(groups, 1), isFromDay: true }),
  ],
  [new RegExp(`\\b${LENGTH},? (?:ago|back|earlier|prior|before now)(?![a-z])`), (groups) => toShift(groups, -1)],
  [
    new RegExp(`\\b(?:in )?${LENGTH}'?s?'?,? (?:from now|hence|later|from right now|from this moment|out)(?![a-z])`),
    (groups) => toShift(groups, 1),
  ],
  [new RegExp(`\\b(?:in|after) (?:about )?${LENGTH}'?s?'?(?: time)?(?= at |,|$)`), (groups) => toShift(groups, 1)],
  [new RegExp(`\\b(?:the )?${LENGTH} (?:from|after|past|following) (?<anchor>.+)$`), (groups) => toShift(groups, 1)],
  [new RegExp(`\\b(?:the )?${LENGTH} (?:before|prior to|ahead of) (?<anchor>.+)$`), (groups) => toShift(groups, -1)],
  [new RegExp(`\\b(?:the )?${ONE} (?:after|following) (?!next\\b)(?<anchor>.+)$`), (groups) => toShift(one(groups), 1)],
  [new RegExp(`\\b(?:the )?${ONE} before (?!last\\b)(?<anchor>.+)$`), (groups) => toShift(one(groups), -1)],
];

const one = (groups: Groups): Groups => ({ ...groups, duration: `1 ${groups.duration}` });
function toShift({ duration = "", anchor }: Groups, sign: 1 | -1): Shift {
  return { duration, sign, anchor };
}

function signed(groups: Groups): Shift {
  return toShift(groups, groups.sign === "-" ? -1 : 1);
}

/**
 * Takes a moment that is counted from another one out of a text; undefined when there is none. @throws RangeError
 * beyond the calendar.
 */
export function takeShift(text: string, { now }: PhraseContext, readAnchor: ReadAnchor): Shifted | undefined {
  for (const [pattern, toShift] of FORMS) {
    const match = pattern.exec(text);
    const shift = match && toShift(match.groups ?? {});
    const duration = shift && readDuration(shift.duration);
    if (!duration) continue;
    const { sign, anchor, isFromDay = false } = shift;
    if (isFromDay && !duration.clock.blank) throw unclear("Hours and smaller units cannot be counted from a whole day");
    const from = anchor === undefined ? { at: now, isWholeDay: false, ...PHRASE } : readAnchor(anchor);
    const reading = shiftBy(from, duration, sign);
    const isDay = duration.clock.blank && (anchor === undefined || isFromDay || from.isWholeDay);
    return { reading, rest: takeMatch(text, match), takesClock: isDay };
  }
  return undefined;
}

/** Calendar units move the date at the same time of day, smaller units move in real time. */
function shiftBy(from: Reading, duration: Duration, sign: 1 | -1): Reading {
  const [calendar, clock] = [duration.calendar, duration.clock].map((part) => (sign === 1 ? part : part.negated())) as [
    Temporal.Duration,
    Temporal.Duration,
  ];
  const isWholeDay = from.isWholeDay && clock.blank;
  if (calendar.blank) return { ...PHRASE, at: from.at.add(clock), isWholeDay, assumptions: from.assumptions };
  const { wall, assumptions } = toNamedWall(from);
  const day = wall.toPlainDate();
  const moved = toReading(day.add(calendar), isWholeDay ? undefined : wall.toPlainTime(), from.at.timeZoneId, {
    isMachine: false,
    assumptions: [...assumptions, ...explainClamp(day, calendar)],
  });
  if (clock.blank) return moved;
  const { skipped: _, ...rest } = moved;
  return { ...rest, at: moved.at.add(clock) };
}
