import { Problem } from "./problem.ts";

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

/** The stock phrases of models that decline within the form that they were asked for: an apology, and what cannot be done. */
const REGRETS = "(?:i(?:['’]m| am) )?(?:(?:so|very|really) )?sorry|i(?:['’]m| am) afraid|i apologi[sz]e|unfortunately";
const CANNOT = "i (?:can['’]t|cannot|won['’]t|will not)|i(?:['’]m| am) (?:unable|not able) to";
const WORKS =
  "(?:help|assist|comply|engage)(?: you)? with|fulfill?|process|complete|answer|provide|create|generate|respond to";
const WHAT = "(?:that|this|your)(?: (?:request|question|prompt|content))?";
const REFUSAL = new RegExp(
  `^(?:as an? (?:ai|(?:large )?language model)[^,.]*, )?(?:(?:${REGRETS})[,.]? (?:but )?)?(?:as an ai[^,.]*, )?(?:${CANNOT}) (?:(?:${WORKS}) ${WHAT}|comply)(?:[.,;!]|$)`,
  "i",
);
/** The same in Japanese, in which Japanese texts are answered: an apology, and what cannot be done. */
const JAPANESE_REFUSAL =
  /^(?:(?:大変)?(?:申し訳(?:ありません|ございません|ないのです)|すみません|恐れ入ります)が、?[^。]{0,40}(?:お手伝い|お応え|お答え|回答|対応|お受け|作成|応じる)[^。]{0,12}(?:でき(?:ません|かねます)|いたしかねます)[。！]?\s*)+$/;
/** A longer text goes on to say something: it may quote the phrase. In UTF-16 code units. */
const LONGEST_REFUSAL = 200;

/**
 * Refuses the main text of a language model's answer that says nothing, so that nobody pays for it.
 * @throws Problem `upstream-failed` for a refusal, or for a text without a letter or digit.
 */
export function checkSaid(text: string): void {
  const said = text.trim();
  if (said.length <= LONGEST_REFUSAL && (REFUSAL.test(said) || JAPANESE_REFUSAL.test(said)))
    throw new Problem("upstream-failed", "The language model declined to answer");
  if (!/[\p{L}\p{N}]/u.test(said)) throw new Problem("upstream-failed", "The language model gave no usable answer");
}
