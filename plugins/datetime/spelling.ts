import { UNIT } from "./durations.ts";
import { toDigits } from "./words/vocabulary.ts";

const HOUR = "(1[0-2]|[1-9])(?![\\d:])";

const REPLACEMENTS: readonly (readonly [RegExp, string | ((...match: string[]) => string)])[] = [
  [/[‘’]/g, "'"],
  [/[‐‑‒–—−]/g, "-"],
  [/\s+/g, " "],
  [/^t(?=\d\d)/, ""],
  [/(?<=\d:?\d\d)z(?![a-z])/g, " utc"],
  [/'(?=\d\d\b)/g, ""],
  [/(?<![a-z])([ap])\.m\b\.?/g, "$1m"],
  [/\bo ?' ?clock\b/g, "o'clock"],
  [/ local time\b/g, ""],
  [/\b(?:tmrw?|tomorow)\b/g, "tomorrow"],
  [/\bovermorrow\b/g, "day after tomorrow"],
  [/\btonight\b/g, "today night"],
  [/\blast night\b/g, "yesterday night"],
  [/\bthis (morning|afternoon|evening|night)\b/g, "today $1"],
  [/\beo([dwmqy])\b/g, (_, unit = "") => `end of ${LETTERS[unit]}`],
  [/\b(?:12(?::00)? )?(?:noon|midday)\b/g, "12:00pm"],
  [/\bat ([01]\d|2[0-3])([0-5]\d)(?: ?(?:hrs|hours|h))?(?![\d:])/g, "at $1:$2"],
  [new RegExp(`\\bhalf past ${HOUR}`, "g"), "$1:30"],
  [new RegExp(`\\b(?:a )?quarter past ${HOUR}`, "g"), "$1:15"],
  [new RegExp(`\\b(?:a )?quarter to ${HOUR}`, "g"), (_, hour = "") => minutesTo(15, hour)],
  [
    new RegExp(`\\b([1-5]?\\d)(?: minutes?)? past ${HOUR}`, "g"),
    (_, minutes = "", hour = "") => `${hour}:${minutes.padStart(2, "0")}`,
  ],
  [
    new RegExp(`\\b([1-5]?\\d) minutes? to ${HOUR}`, "g"),
    (_, minutes = "", hour = "") => minutesTo(Number(minutes), hour),
  ],
  [new RegExp(`\\b(\\d{1,7}) and a half (?=${UNIT}\\b)`, "g"), "$1.5 "],
  [new RegExp(`\\b(?:an?|1) (${UNIT}) and a half\\b`, "g"), "1.5 $1"],
  [new RegExp(`\\bhalf an? (?=${UNIT}\\b)`, "g"), "0.5 "],
  [new RegExp(`\\b(?:a )?couple (?:of )?(?=${UNIT}\\b)`, "g"), "2 "],
  [/[\s.!?,;]+$/, ""],
];

const LETTERS: Readonly<Record<string, string>> = { d: "day", w: "week", m: "month", q: "quarter", y: "year" };

/** One spelling for what can be written in many ways: lower case, single spaces, numbers and times of day in digits. */
export const toPlainSpelling = (text: string): string =>
  REPLACEMENTS.reduce(
    (spelled, [pattern, by]) => spelled.replace(pattern, by as string),
    toDigits(text.normalize("NFKC").toLowerCase().trim()),
  );

function minutesTo(minutes: number, hour: string): string {
  if (minutes === 0) return `${hour}:00`;
  return `${hour === "1" ? 12 : Number(hour) - 1}:${60 - minutes}`;
}
