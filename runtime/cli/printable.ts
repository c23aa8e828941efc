/** Replaces control, format and separator characters by spaces: a terminal would obey them. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");

/** The same of a text of several lines: their ends, and the tabs between columns, stay. */
export const printableLines = (text: string): string => text.replace(/(?!\t|\r?\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
