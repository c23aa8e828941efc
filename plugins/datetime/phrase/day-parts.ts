import { MONTH, takeMatch } from "../vocabulary.ts";

/** A part of the day: the hour that stands for it, and its first and last hour (0 to 23). */
export interface DayPart {
  readonly name: string;
  readonly hour: number;
  readonly first: number;
  readonly last: number;
}

const PARTS: readonly DayPart[] = [
  { name: "morning", hour: 6, first: 1, last: 11 },
  { name: "lunchtime", hour: 12, first: 11, last: 14 },
  { name: "afternoon", hour: 15, first: 12, last: 18 },
  { name: "evening", hour: 20, first: 16, last: 23 },
  { name: "night", hour: 22, first: 18, last: 23 },
];

/** "9 at night", "5 o'clock in the morning": without the part of the day, "9" would not be a time. */
const AFTER_HOUR = new RegExp(
  `(?<!${MONTH} )\\b(?:at )?(\\d{1,2}(?:[:.]\\d\\d)?)(?: o'clock)? (?:in the|at) (morning|afternoon|evening|night)\\b`,
);
const PLAIN = /,? ?\b(?:(?:in|at|during|around) )?(?:the )?(morning|lunchtime|afternoon|evening|night)\b/;
/** "8 tonight", "tonight 8", "tomorrow morning 9:30". */
const BARE_HOUR = /^(\d{1,2})(?= (?:today|tomorrow|yesterday)\b)|(?<=◇ )(\d{1,2})$/;

/** Takes the part of the day out of a text. @param text plainly spelled. */
export function takePart(text: string): { readonly part: DayPart | undefined; readonly rest: string } {
  const hour = AFTER_HOUR.exec(text);
  if (hour) return { part: toPart(hour[2]), rest: text.replace(AFTER_HOUR, "at $1").trim() };
  const plain = PLAIN.exec(text.replace(/\blunch(?: time)?\b/, "lunchtime"));
  if (!plain) return { part: undefined, rest: text };
  const rest = takeMatch(text.replace(/\blunch(?: time)?\b/, "lunchtime"), plain)
    .replace(/^,? /, "")
    .trim();
  return { part: toPart(plain[1]), rest: rest.replace(BARE_HOUR, "at $1$2") };
}

const toPart = (name: string | undefined): DayPart | undefined => PARTS.find((part) => part.name === name);
