import { unclear } from "../reading.ts";

/** A part of the day: the hour that stands for it, and the first and last hour of it, of 24. */
export interface DayPart {
  readonly name: string;
  readonly hour: number;
  readonly first: number;
  readonly last: number;
}

const PARTS: readonly DayPart[] = [
  { name: "morning", hour: 6, first: 1, last: 11 },
  { name: "afternoon", hour: 15, first: 12, last: 18 },
  { name: "evening", hour: 20, first: 16, last: 23 },
  { name: "night", hour: 22, first: 18, last: 23 },
  { name: "midnight", hour: 0, first: 0, last: 0 },
];

/** "9 at night", "5 o'clock in the morning": without the part, "9" alone would be no time. */
const AFTER_HOUR = /\b(?:at )?(\d{1,2}(?::\d\d)?)(?: o'clock)? (?:in the|at) (morning|afternoon|evening|night)\b/;
const PLAIN =
  /,? ?\b(?:(?:in|at|during) )?(?:the )?(?:12(?::00)? ?(?:am )?(?=midnight))?(morning|afternoon|evening|night|midnight)\b/;

/** The part of the day that a text names, and the text without it. @param text plainly spelled. */
export function takePart(text: string): { readonly part: DayPart | undefined; readonly rest: string } {
  const [pattern, by] = AFTER_HOUR.test(text) ? [AFTER_HOUR, "at $1"] : [PLAIN, ""];
  const name = pattern.exec(text)?.at(-1);
  const rest = text.replace(pattern, by).replace(/^,? /, "").trim();
  return { part: PARTS.find((part) => part.name === name), rest };
}

/** The hour on a 24-hour clock. @param isExact whether the text says am, pm or a 24-hour time. @throws Problem `unparseable-input`. */
export function toHour(hour: number, isExact: boolean, { name, first, last }: DayPart): number {
  const readings = isExact ? [hour] : [hour, (hour + 12) % 24];
  const found = readings.find((reading) => reading >= first && reading <= last);
  if (found === undefined) throw unclear(`${hour} o'clock does not lie in the ${name}: write the time with am or pm`);
  return found;
}
