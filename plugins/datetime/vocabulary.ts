const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** Sources of regular expressions over lower-case text. */
export const MONTH =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
export const WEEKDAY =
  "(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:s|nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)";
/** Stands in the text for a piece that has been read. */
const TAKEN = "◇";

/** 1 = January. @param name any form that MONTH matches. */
export const monthOf = (name: string): number => MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;

/** 1 = Monday. @param name any form that WEEKDAY matches. */
export const weekdayOf = (name: string): number => WEEKDAYS.indexOf(name.slice(0, 3).toLowerCase()) + 1;

/** The text with the match replaced by TAKEN. */
export const takeMatch = (text: string, match: RegExpExecArray): string =>
  `${text.slice(0, match.index)}${TAKEN}${text.slice(match.index + match[0].length)}`;
