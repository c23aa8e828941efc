/** Replaces control, format and separator characters by spaces: a terminal would obey them. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");

/** A number with what it counts: `1 sale`, `2 sales`. */
export const withNoun = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
