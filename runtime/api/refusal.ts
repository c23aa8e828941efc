/** A longer text goes on to say something: it may quote the phrase. In UTF-16 code units. */
const LONGEST = 200;

const REGRETS = "(?:i(?:['’]m| am) )?(?:(?:so|very|really) )?sorry|i(?:['’]m| am) afraid|i apologi[sz]e|unfortunately";
const CANNOT = "i (?:can['’]t|cannot|won['’]t|will not)|i(?:['’]m| am) (?:unable|not able) to";
const WORKS =
  "(?:help|assist|comply|engage)(?: you)? with|fulfill?|process|complete|answer|provide|create|generate|respond to";
const WHAT = "(?:that|this|your)(?: (?:request|question|prompt|content))?";
/** The stock phrases of models: an apology, and what cannot be done. More may follow. */
const ENGLISH = new RegExp(
  `^(?:as an? (?:ai|(?:large )?language model)[^,.]*, )?(?:(?:${REGRETS})[,.]? (?:but )?)?(?:as an ai[^,.]*, )?(?:${CANNOT}) (?:(?:${WORKS}) ${WHAT}|comply)(?:[.,;!]|$)`,
  "i",
);

interface Language {
  /** An apology, and what cannot be done. */
  readonly phrase: RegExp;
  /** What was asked. A sentence that names something else is an answer ("that garden"). */
  readonly asked?: RegExp;
  /** Whether the sentence may name nothing: "I am sorry, but I cannot help". */
  readonly mayEnd?: boolean;
}

/** The same of texts in other languages, which are answered in their own. Each pattern is for one sentence. */
const LANGUAGES: readonly Language[] = [
  {
    phrase:
      /^(?:lo siento|lamento|lamentablemente|disculp[ae]).{0,30}no puedo (?:ayudar|asistir|cumplir|responder|proporcionar|generar|crear)/iu,
    asked: /(?<!\p{L})(?:eso|esto|solicitud|petición|pregunta|contenido|tema)(?!\p{L})/iu,
    mayEnd: true,
  },
  {
    phrase:
      /^(?:(?:je suis )?(?:vraiment )?désolée?|malheureusement).{0,30}je ne peux pas (?:vous |t')?(?:aider|assister|répondre|fournir|générer|créer|traiter)/iu,
    asked: /(?<!\p{L})(?:cela|ça|demande|requête|question|contenu|sujet)(?!\p{L})/iu,
    mayEnd: true,
  },
  {
    phrase:
      /^(?:es )?tut mir leid,.{0,30}(?:kann ich|ich kann).{0,30}nicht (?:helfen|weiterhelfen|erfüllen|beantworten|erstellen)/iu,
    asked:
      /(?<!\p{L})(?:ich kann (?:ihnen|dir) nicht helfen|das (?:kann|nicht)|dabei|damit|anfrage|frage|bitte|inhalte?)(?!\p{L})/iu,
  },
  {
    phrase:
      /^(?:desculpe|sinto muito|lamento|infelizmente).{0,30}não posso (?:ajudar|atender|responder|fornecer|gerar|criar)/iu,
    asked: /(?<!\p{L})(?:isso|isto|solicitação|pedido|pergunta|conteúdo|assunto)(?!\p{L})/iu,
    mayEnd: true,
  },
  {
    phrase: /^mi dispiace.{0,30}non posso (?:aiutar|assister|rispondere|fornire|generare|creare|soddisfare)/iu,
    asked: /(?<!\p{L})(?:questo|ciò|richiesta|domanda|contenuto|argomento)(?!\p{L})/iu,
    mayEnd: true,
  },
  {
    phrase: /^(?:извините|простите|к сожалению).{0,20}не могу (?:помочь|ответить|выполнить|предоставить|создать)/iu,
    asked: /(?<!\p{L})(?:этим|это|(?:запрос|вопрос|просьб)\p{L}*)(?!\p{L})/iu,
    mayEnd: true,
  },
  {
    phrase:
      /^(?:很?抱歉|对不起|對不起)，?.{0,10}(?:无法|不能|無法)(?:协助|協助|帮|幫|满足|滿足|提供|回答|处理|處理|完成)/u,
    asked: /请求|請求|问题|問題|要求|内容|內容/u,
    mayEnd: true,
  },
  {
    phrase: /^죄송(?:합니다만|하지만|합니다).{0,40}(?:도와|도움|답변|제공|처리|응답).{0,12}수 없/u,
    asked: /요청|질문|내용|도와드릴|도움을 드릴/u,
  },
  {
    phrase:
      /^(?:大変)?(?:申し訳(?:ありません|ございません|ないのです)|すみません|恐れ入ります)が、?.{0,40}(?:お手伝い|お応え|お答え|回答|対応|お受け|作成|応じる).{0,12}(?:でき(?:ません|かねます)|いたしかねます)$/u,
    mayEnd: true,
  },
];

/** How long what follows a phrase may be: what was asked, or a few words. */
const REST = 60;
const FEW = 4;

/**
 * Whether a text is nothing but the stock phrase of a model that declines within the form that it was asked for.
 * @param said without white space around it.
 */
export function isStockRefusal(said: string): boolean {
  if (said.length > LONGEST) return false;
  const sentences = said.replace("죄송합니다. ", "죄송합니다 ").split(/[.!。！]+\s*/);
  return (
    ENGLISH.test(said) ||
    sentences.filter((each) => each !== "").every((each) => LANGUAGES.some((language) => declines(each, language)))
  );
}

function declines(sentence: string, { phrase, asked, mayEnd = false }: Language): boolean {
  const found = phrase.exec(sentence)?.[0].length;
  if (found === undefined) return false;
  const rest = sentence.length - found;
  return (rest <= FEW && mayEnd) || (rest <= REST && asked?.test(sentence) === true);
}
