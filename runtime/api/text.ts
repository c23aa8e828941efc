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
/** A character within a sentence. No part of a pattern goes beyond its sentence, so that there is one way to divide a text. */
const IN = "[^.!?。！？]";
const ELSEWHERE = [
  `(?:lo siento|lamento|lamentablemente|disculp[ae])${IN}{0,30}no puedo (?:ayudar|asistir|cumplir|responder|proporcionar|generar|crear)`,
  `(?:(?:je suis )?(?:vraiment )?désolée?|malheureusement)${IN}{0,30}je ne peux pas (?:vous |t')?(?:aider|assister|répondre|fournir|générer|créer|traiter)`,
  `(?:es )?tut mir leid,${IN}{0,30}(?:kann ich|ich kann)${IN}{0,30}nicht (?:helfen|weiterhelfen|erfüllen|beantworten|erstellen)`,
  `(?:desculpe|sinto muito|lamento|infelizmente)${IN}{0,30}não posso (?:ajudar|atender|responder|fornecer|gerar|criar)`,
  `mi dispiace${IN}{0,30}non posso (?:aiutar|assister|rispondere|fornire|generare|creare|soddisfare)`,
  `(?:извините|простите|к сожалению)${IN}{0,20}не могу (?:помочь|ответить|выполнить|предоставить|создать)`,
  `(?:很?抱歉|对不起|對不起)，?${IN}{0,10}(?:无法|不能|無法)(?:协助|協助|帮|幫|满足|滿足|提供|回答|处理|處理|完成)`,
  `죄송(?:합니다만|하지만|합니다)[.,]?${IN}{0,40}(?:도와|도움|답변|제공|처리|응답)${IN}{0,12}수 없`,
].join("|");
/** What was asked: a sentence that goes on names it, or it is about something else ("that garden"). */
const ASKED = [
  "eso|esto|solicitud|petición|pregunta|contenido|cela|ça|demande|requête|question|contenu|isso|isto|solicitação|pedido|conteúdo",
  "tema|sujet|assunto|argomento|ich kann (?:ihnen|dir) nicht helfen|questo|ciò|richiesta|domanda|das (?:kann|nicht)|dabei|damit|anfrage|frage|bitte|inhalte?|этим|это|(?:запрос|вопрос|просьб)\\p{L}*",
].join("|");
const ABOUT = `(?=(?:죄송합니다[.])?${IN}*(?:(?<!\\p{L})(?:${ASKED})(?!\\p{L})|请求|請求|问题|問題|要求|内容|內容|요청|질문|내용|도와드릴|도움을 드릴))`;
/** The same in other languages, of texts that are nothing but such sentences. */
const REFUSAL_ELSEWHERE = new RegExp(
  `^(?:(?:${ABOUT}(?:${ELSEWHERE})${IN}{0,60}|(?!(?:es )?tut|죄송)(?:${ELSEWHERE})${IN}{0,4})(?:[.!。！]+\\s*|$))+$`,
  "iu",
);
/** A longer text goes on to say something: it may quote the phrase. In UTF-16 code units. */
const LONGEST_REFUSAL = 200;

/**
 * Refuses the main text of a language model's answer that says nothing, so that nobody pays for it.
 * @throws Problem `upstream-failed` for a refusal, or for a text without a letter or digit.
 */
export function checkSaid(text: string): void {
  const said = text.trim();
  if (said.length <= LONGEST_REFUSAL && [REFUSAL, JAPANESE_REFUSAL, REFUSAL_ELSEWHERE].some((each) => each.test(said)))
    throw new Problem("upstream-failed", "The language model declined to answer");
  if (!/[\p{L}\p{N}]/u.test(said)) throw new Problem("upstream-failed", "The language model gave no usable answer");
}
