/** Replaces control, format and separator characters by spaces: a terminal would obey them. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");

/** A text of several lines without such characters. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");
