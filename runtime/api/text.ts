import { Problem } from "./problem.ts";
import { isStockRefusal } from "./refusal.ts";

/** White space, controls and invisible characters alone. */
const BLANK = /^[\s\p{Cc}\p{Cf}\p{DI}]*$/u;

/** Whether a text has no visible character. */
export const isBlank = (text: string): boolean => BLANK.test(text);

/** A number with what it counts: `1 sale`, `2 sales`. */
export const withNoun = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A text before another sentence: with a full stop where it does not end as a sentence of any script. */
export function withStop(text: string): string {
  const said = text.trimEnd();
  return /[\p{STerm}…][\p{Pe}\p{Pf}"']?$/u.test(said) ? said : `${said}.`;
}

/**
 * Refuses the main text of a language model's answer that says nothing, so that nobody pays for it.
 * @throws Problem `upstream-failed` for a refusal, or for a text without a letter or digit.
 */
export function checkSaid(text: string): void {
  const said = text.trim();
  if (isStockRefusal(said)) throw new Problem("upstream-failed", "The language model declined to answer");
  if (!/[\p{L}\p{N}]/u.test(said)) throw new Problem("upstream-failed", "The language model gave no usable answer");
}
