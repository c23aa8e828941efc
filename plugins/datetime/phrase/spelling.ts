import { MONTH, WEEKDAY } from "../vocabulary.ts";
import { UNIT } from "./durations.ts";
import { toDigits } from "./numbers.ts";

const HOUR = `(1[0-2]|[1-9])(?![\\d:/.-]| (?:of )?${MONTH}\\b)`;
const HOUR_WORD = "(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)";
/** Not before a month that has its day, or needs none: "12 March 10 30 pm", "mid March 12 noon", "last day of May 12 noon". */
const HAS_NO_DAY = "(?<!(?<!\\d)\\d{1,2}(?:st|nd|rd|th)?(?:[ /-]| of )?|day (?:in|of) |\\bmid[ -])";
/** Before a number that is not the day of a date, as 5 in "March 5 10pm" and "3/5 10pm". */
const NO_DAY = `(?<!\\d[/.-]|${HAS_NO_DAY}(?<![a-z])${MONTH}[.,]? (?:the )?)\\b`;
const TWELVE = `(?:${NO_DAY}12|(?<![\\d:/.-])12:00)`;
const BEFORE_UNIT = `(?= ?-?${UNIT}(?![a-z]))`;
/** Not behind another unit, as 5 minutes in "1 hour and 5 minutes". */
const NO_UNIT = `(?<!(?:\\b|\\d)${UNIT}(?:,| and|, and)? |[\\d.])\\b`;
/**
 * Not behind a length of time, as in "1 hour and 5 minutes before 6" and "2 days and 5 minutes before 6pm"; but 5 minutes
 * before 6 on "Friday next week", or "in 2 days", is a time.
 */
const NO_LENGTH = `(?<!(?<!\\b(?:in|after) )\\b(?:an?|[\\d.]+) ?${UNIT}(?:,| and|, and)? |[\\d.])\\b`;
/** Not before the unit of another count, as 1 in "10 minutes before 1 month after May"; but "3 day after tomorrow" is at 3. */
const NO_COUNT = `(?! ?(?!day (?:after tomorrow|before yesterday)\\b)${UNIT} (?:to|till|til|before|after|from)\\b)`;
const MINUTES_TO = `${NO_LENGTH}(?:(?:a )?quarter|([1-5]?\\d) minutes?) (?:to|till|til|of|before)`;
const HOURS = "one two three four five six seven eight nine ten eleven twelve".split(" ");

type Replacement = readonly [RegExp, string | ((...match: string[]) => string)];

/** Applied while numbers are still words: `ten to six` is a time, `10 to 6` could be a range. */
const BEFORE_DIGITS: readonly Replacement[] = [
  [/[‘’´`]/g, "'"],
  [/[‐‑‒–—−]/g, "-"],
  [/[“”"]/g, ""],
  [/\s+/g, " "],
  [
    new RegExp(
      `\\b(five|ten|twenty|twenty[- ]five) (?:to|till|til|of|before) ${HOUR_WORD}\\b(?! (?:days?|weeks?|hours?))`,
      "g",
    ),
    (_, minutes = "", hour = "") => `${minutes} minutes to ${HOURS.indexOf(hour) + 1}`,
  ],
  [/\b(five|ten|twenty|twenty[- ]five) to (?=(?:(?:12|twelve) )?(?:noon|midday|midnight)\b)/g, "$1 minutes to "],
  [/\b(second|third|fourth)[- ]to[- ]last\b/g, (_, nth = "") => `${NTH_LAST[nth]}-last`],
  [/\b(?:next to last|penultimate|last but one)\b/g, "2-last"],
  [/\b(second|third|fourth)[- ]last\b/g, (_, nth = "") => `${NTH_LAST[nth]}-last`],
  [/\b(\d)(?:nd|rd|th)[- ](?:to[- ])?last\b/g, "$1-last"],
];

const NTH_LAST: Readonly<Record<string, string>> = { second: "2", third: "3", fourth: "4" };

const REPLACEMENTS: readonly Replacement[] = [
  // One character (½) before NFKC, which writes it with a slash of its own; 11/2 and 5 1/2 may be dates.
  [new RegExp(`(\\d)(?: ?1⁄2| 1/2${BEFORE_UNIT})`, "g"), "$1.5"],
  [new RegExp(`(\\d)(?: ?1⁄4| 1/4${BEFORE_UNIT})`, "g"), "$1.25"],
  [new RegExp(`(\\d)(?: ?3⁄4| 3/4${BEFORE_UNIT})`, "g"), "$1.75"],
  [/^t(?=\d\d)/, ""],
  [/(?<![\d:./-])([01]\d|2[0-3])([0-5]\d)(?= ?z(?![a-z]))/g, "$1:$2"],
  [/(?<=\d:?\d\d)z(?![a-z[])/g, " utc"], // Not of 10:30Z[Asia/Tokyo], which is read as it is.
  [/(?<![a-z])([ap])\. ?m\b\.?/g, "$1m"],
  [/(?<=\d) ?([ap])\b\.?(?!\.?m|[a-z'-]| quarter\b)/g, "$1m"],
  [new RegExp(`${NO_DAY}(1[0-2]|[1-9]) ([1-5]\\d|0[1-9])(?= ?[ap]m\\b)`, "g"), "$1:$2"],
  [/(?<![\d:./-])(0?[1-9]|1[0-2])([0-5]\d)(?= ?[ap]m\b)/g, "$1:$2"],
  [/(?<=\d[ap]m) (?:sharp|exactly|precisely|on the dot)\b/g, ""],
  [/(?<=\d|o'clock) (?:sharp|on the dot)\b/g, ""],
  [/\b(?:exactly|precisely) (?=\d|an? |12:00|midnight)/g, ""],
  [
    new RegExp(
      `${NO_DAY}(1[0-2]|[1-9]) ([1-5]\\d|0[1-9])(?=(?: (?:in the|today|tomorrow|yesterday|this))? (?:morning|afternoon|evening|night)\\b)`,
      "g",
    ),
    "at $1:$2",
  ],
  [new RegExp(`\\b(${MONTH}|${WEEKDAY})\\.(?= |,|\\d|$)`, "g"), "$1"],
  [new RegExp(`\\b(${MONTH})'s\\b`, "g"), "$1"],
  [/\bo ?' ?clock\b/g, "o'clock"],
  [/\boclock\b/g, "o'clock"],
  [/(?<=\d) o'clock (?=[ap]m\b)/g, ""],
  [/ local time\b/g, ""],
  [/\b(?:tmrw?|tmw|2morrow|2moro|tommorr?ow|tomorow|tomorro|tmrow|tomoz)\b/g, "tomorrow"],
  [/\b(?:yest|yday|yesterdays)\b/g, "yesterday"],
  [/\b(?:tonite|2night)\b/g, "tonight"],
  [/\bovermorrow\b/g, "day after tomorrow"],
  [/\bereyesterday\b/g, "day before yesterday"],
  [/\b(?:nxt)\b/g, "next"],
  [/\b(\d+)(?:st|nd|rd|th) of the month\b/g, "the $1th of this month"],
  [/\btonight\b/g, "today night"],
  [/\blast night\b/g, "yesterday night"],
  [/\bthis (morning|afternoon|evening|night)\b/g, "today $1"],
  [/\b(?:mornings?|morn)\b/g, "morning"],
  [/\b(?:bonfire|guy fawkes) night\b/g, "guy fawkes day"],
  [/\beo([dwmqy])\b/g, (_, unit = "") => `end of ${LETTERS[unit]}`],
  [
    /\b(?:by )?(?:the )?(?:close|end) of (?:(?:the )?(?:business|working|work) day|business|play)\b|\bcob\b|\beob\b/g,
    "cob",
  ],
  [new RegExp(`(?:${TWELVE} ?(?:pm )?|\\b)(?:noon|midday)\\b`, "g"), "12:00pm"],
  [new RegExp(`${TWELVE} ?(?:am )?(?=midnight\\b)`, "g"), ""],
  [/\b(?:at|@) ?([01]\d|2[0-3])([0-5]\d)(?: ?(?:hrs|hours|h))?(?![\d:/-]|\.\d)/g, "at $1:$2"],
  [
    /(?<!\b(?:in|after) )\b([01]\d|2[0-3])([0-5]\d) ?(?:hrs|hours|hr|h)\b(?! (?:ago|from|later|hence|before|after|earlier)\b)/g,
    "$1:$2",
  ],
  [/@ ?/g, "at "],
  [
    new RegExp(
      `\\bat (1[0-2]|[1-9]) ([1-5]\\d|0[1-9])(?![\\d:/.]| (?:[a-z]*(?:days?|hours?|minutes?|past|to)|(?:of )?${MONTH})\\b)`,
      "g",
    ),
    "at $1:$2",
  ],
  [/(?<=[a-z]),(?=\d)/g, ", "],
  [/\b(?:a )?(half|quarter) (to|till|before|past|after) (midnight|12:00pm)\b/g, toMinutes],
  [new RegExp(`\\bhalf (?:past |after )${HOUR}`, "g"), "$1:30"],
  [new RegExp(`\\bhalf ${HOUR}(?! (?:years?|months?|weeks?|days?|hours?|minutes?))`, "g"), "$1:30"],
  [new RegExp(`\\b(?:a )?quarter (?:past|after) ${HOUR}`, "g"), "$1:15"],
  // 12 pm is noon, with the morning before it; before 12 am is the day before.
  [
    new RegExp(`${MINUTES_TO} 12 ?pm\\b`, "g"),
    (_, minutes = "15") => (minutes === "0" ? "12:00pm" : `${minutesTo(Number(minutes), "12")}am`),
  ],
  [new RegExp(`${MINUTES_TO} 12(?= ?am\\b)`, "g"), (_, minutes = "15") => `${minutes} minutes before 12:00`],
  [new RegExp(`\\b(?:a )?quarter (?:to|till|til|of|before) ${HOUR}`, "g"), (_, hour = "") => minutesTo(15, hour)],
  [
    new RegExp(`\\b([1-5]?\\d)(?: minutes?)? past ${HOUR}`, "g"),
    (_, minutes = "", hour = "") => `${hour}:${minutes.padStart(2, "0")}`,
  ],
  [
    new RegExp(`${NO_LENGTH}([1-5]?\\d) minutes? (?:to|till|til|before) ${HOUR}${NO_COUNT}`, "g"),
    (_, minutes = "", hour = "") => minutesTo(Number(minutes), hour),
  ],
  // Of figures alone, 1 to 12 are hours: "10 to noon" is a range.
  [
    /\b([1-5]?\d minutes?|1[3-9]|[2-5]\d) to (midnight|12:00pm)\b/g,
    (_, minutes = "", at = "") => `${Number.parseInt(minutes, 10)} minutes before ${at}`,
  ],
  [/\b([1-5]?\d) past (midnight|12:00pm)\b/g, "$1 minutes after $2"],
  [new RegExp(`\\b(\\d{1,7}) and a half (?=${UNIT}\\b)`, "g"), "$1.5 "],
  // Not an hour and three months.
  [
    new RegExp(`\\b(an?|\\d{1,7}) (${UNIT}) and (a half|a quarter|3[ -]quarters)\\b(?! of\\b)`, "g"),
    (_, count = "", unit = "", part = "") => `${count.replace(/^a.*/, "1")}${DECIMALS[part.replace("-", " ")]} ${unit}`,
  ],
  [new RegExp(`\\b(?:a )?half (?:of )?an? (?=${UNIT}\\b)|\\ba half (?=${UNIT}\\b)`, "g"), "0.5 "],
  [/\b3[ -]quarters of an (?=hours?\b)/g, "45 minutes of an "],
  [/\b45 minutes of an hour\b/g, "45 minutes"],
  [/\b(?:a )?quarter of an hour\b/g, "15 minutes"],
  [new RegExp(`\\b(?:a )?couple (?:of )?(?=${UNIT}\\b|business|working|${WEEKDAY})`, "g"), "2 "],
  [/\ba dozen (?=[a-z])/g, "12 "],
  // These are the last hours of the day that is named, though its midnight is taken as its start.
  [/\ba(?= (?:minute|seconds) before midnight\b)/g, "1"],
  [
    new RegExp(`${NO_UNIT}([1-5]\\d|[1-9]) ?(?:seconds?|secs?|s) before midnight\\b`, "g"),
    (_, count = "") => `23:59:${String(60 - Number(count)).padStart(2, "0")}`,
  ],
  [
    new RegExp(
      `${NO_UNIT}(?:(an|12|1[01]|[1-9]) ?(?:hours?|hrs?|h)(?:,| and|, and)? ?)?([1-9]\\d?) ?(?:minutes?|mins?|m) before midnight\\b`,
      "g",
    ),
    (_, hours = "0", minutes = "") => toEvening(hours, Number(minutes)),
  ],
  [
    new RegExp(`${NO_UNIT}(an|0\\.5|12|(?:1[01]|[1-9])(?:\\.5)?) ?(?:hours?|hrs?|h) before midnight\\b`, "g"),
    (_, hours = "") => toEvening(hours, 0),
  ],
  [/[()]/g, " "],
  [/\s+/g, " "],
  [/^[\s,]+|[\s.!?,;]+$/g, ""],
];

const DECIMALS: Readonly<Record<string, string>> = { "a half": ".5", "a quarter": ".25", "3 quarters": ".75" };
const LETTERS: Readonly<Record<string, string>> = { d: "day", w: "week", m: "month", q: "quarter", y: "year" };

const apply = (text: string, replacements: readonly Replacement[]): string =>
  replacements.reduce((spelled, [pattern, by]) => spelled.replace(pattern, by as string), text);

/** Reduces many spellings to one: lower case, single spaces, numbers and times of day in digits. */
export const toPlainSpelling = (text: string): string =>
  apply(toDigits(apply(text.normalize("NFKC").toLowerCase().trim(), BEFORE_DIGITS)), REPLACEMENTS);

function toMinutes(_: string, part = "", side = "", time = ""): string {
  return `${part === "half" ? 30 : 15} minutes ${/past|after/.test(side) ? "after" : "before"} ${time}`;
}

function minutesTo(minutes: number, hour: string): string {
  if (minutes === 0) return `${hour}:00`;
  return `${hour === "1" ? 12 : Number(hour) - 1}:${String(60 - minutes).padStart(2, "0")}`;
}

/** The time so long before the end of a day. */
function toEvening(hours: string, minutes: number): string {
  const left = 60 * (24 - (hours === "an" ? 1 : Number(hours))) - minutes;
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
}
