/** Replaces control, format and separator characters by spaces: a terminal would obey them. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");

/** The same of a text of several lines: their ends, and the tabs between columns, stay. */
export const printableLines = (text: string): string => text.replace(/(?!\t|\r?\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");

/** JSON in which those characters are escaped: `JSON.stringify` escapes only some of them. */
export const printableJson = (json: string): string =>
  json.replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => character.split("").map(toEscape).join(""));

/** Indented JSON for a terminal. */
export const toPrintableJson = (value: unknown): string => printableJson(JSON.stringify(value, null, 2));

const toEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
