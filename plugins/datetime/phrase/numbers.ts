const ONES = "one two three four five six seven eight nine".split(" ");
const TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(" ");
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const FIRSTS = "first second third fourth fifth sixth seventh eighth ninth".split(" ");
const TENTHS =
  "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split(" ");

/** One to ninety-nine in digits; first to thirty-first as `1th` to `31th`. */
const NUMBERS: ReadonlyMap<string, string> = new Map([
  ...[...ONES, ...TEENS].map((word, i) => [word, `${i + 1}`] as const),
  ...TENS.flatMap((ten, i) => [
    [ten, `${i * 10 + 20}`] as const,
    ...ONES.map((one, j) => [`${ten}-${one}`, `${i * 10 + 21 + j}`] as const),
  ]),
  ...[...FIRSTS, ...TENTHS, "twentieth", ...FIRSTS.map((word) => `twenty-${word}`), "thirtieth", "thirty-first"].map(
    (word, i) => [word, `${i + 1}th`] as const,
  ),
]);

const longestFirst = [...NUMBERS.keys()].sort((a, b) => b.length - a.length).map((word) => word.replace("-", "[- ]"));
const NUMBER_WORD = new RegExp(`\\b(?:${longestFirst.join("|")})\\b`, "g");
/** The unit of time, not the ordinal. */
const UNIT_SECOND = /(?<=(?:\b\d{1,9}|\ban?|\bone|\bsplit) ?)second\b/g;
/** The beginning of a year in words, "twenty twenty-seven", until the rest is in digits. "20 27" is none. */
const CENTURY = new RegExp(`\\btwenty (?=(?:${[...TEENS, ...TENS].join("|")})\\b)`, "g");
const YEAR_WORDS =
  /\b20~(\d\d)\b(?! ?(?:past|to|:|[ap]\.? ?m\b|o'clock|in the|at night|h\b|h\d|minutes?|hours?|days?|weeks?|months?|years?))/g;
const HUNDREDS = /\b(an?|\d) hundred(?: and)?(?: (\d{1,2})\b)?/g;

/** Spelled-out numbers in digits: `twenty-first of may` becomes `21th of may`. @param text in lower case. */
export const toDigits = (text: string): string =>
  text
    .replace(UNIT_SECOND, "seconds")
    .replace(CENTURY, "20~")
    .replace(NUMBER_WORD, (word) => NUMBERS.get(word.replace(" ", "-")) ?? word)
    .replace(/\b2 thousand(?: and)? (\d\d?)\b/g, (_, rest: string) => `20${rest.padStart(2, "0")}`)
    .replace(YEAR_WORDS, "20$1")
    .replace(/\b20~/g, "20 ")
    .replace(HUNDREDS, (_, count: string, rest = "0") => `${(Number.parseInt(count, 10) || 1) * 100 + Number(rest)}`);
