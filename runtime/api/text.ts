/** White space, controls and invisible characters alone. */
const BLANK = /^[\s\p{Cc}\p{Cf}\p{DI}]*$/u;

/** Whether a text has no visible character. */
export const isBlank = (text: string): boolean => BLANK.test(text);
