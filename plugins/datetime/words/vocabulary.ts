const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** Sources of regular expressions over lower-case text. */
export const MONTH =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
export const WEEKDAY =
  "(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)";

/** 1 = January. @param name any form that MONTH matches. */
export const monthOf = (name: string): number => MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;

/** 1 = Monday. @param name any form that WEEKDAY matches. */
export const weekdayOf = (name: string): number => WEEKDAYS.indexOf(name.slice(0, 3).toLowerCase()) + 1;

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
/** The unit of time, and not the ordinal. */
const UNIT_SECOND = /(?<=(?:\b\d{1,9}|\ban?|\bone) ?)second\b/g;

/** Spelled-out numbers as digits: `twenty-first of may` is `21th of may`. @param text in lower case. */
export const toDigits = (text: string): string =>
  text.replace(UNIT_SECOND, "seconds").replace(NUMBER_WORD, (word) => NUMBERS.get(word.replace(" ", "-")) ?? word);
