/** What a page is made of besides its text, as far as it tells that the text is not the page. */
export interface Frame {
  /** Whether the page leads elsewhere by itself (`<meta http-equiv="refresh">` with an address). */
  readonly leadsElsewhere: boolean;
  readonly asksForPassword: boolean;
  /** Whether it has frames, embedded documents or fields that are filled in. */
  readonly hasFrames: boolean;
  /** Whether its data for search engines says that not all of it can be read for free (schema.org). */
  readonly isMarkedPaid: boolean;
  /** Whether it says that the rest of its text is for subscribers. */
  readonly saysPaid: boolean;
}

/** The part of the DOM that is used here. */
interface Page {
  querySelectorAll(selectors: string): Iterable<Element>;
}
interface Element {
  readonly textContent: string;
  getAttribute(name: string): string | null;
  closest(selectors: string): unknown;
}

/** Reads the frame of a page, before the reader of its article changes it. @param html of the page */
export function readFrame(page: Page, html: string): Frame {
  const shown = (selectors: string): Element[] =>
    [...page.querySelectorAll(selectors)].filter((element) => !element.closest("noscript"));
  return {
    leadsElsewhere: shown("meta[http-equiv]").some(isRedirect),
    asksForPassword: shown('input[type="password"]').length > 0,
    hasFrames: shown("iframe, frame, object, embed, textarea:not(:empty)").length > 0,
    isMarkedPaid: shown('script[type="application/ld+json"]').some(({ textContent }) => MARK.test(textContent)),
    saysPaid: WALL.test(html) && shown(SIGNS).some(isWall),
  };
}

const MARK = /"isAccessibleForFree"\s*:\s*"?false/i;
/** Where sites write such a sentence, and where it is only about others' texts, or not shown. */
const SIGNS = "h1, h2, h3, h4, h5, h6, p, span, strong, b, a, button, label, div, section";
const ELSEWHERE =
  'nav, header, footer, aside, script, style, template, [hidden], [style*="display:none"], [style*="display: none"]';
const LONGEST_SIGN = 200;
const FOR_MEMBERS =
  /\b(?:post|article|story|content|page) is (?:only |exclusively )?(?:available )?(?:only )?(?:for|to) (?:\w+ )?(?:subscribers|members)\b|\bavailable to (?:\w+ )?(?:subscribers|members) only\b/;
const FIRST_JOIN =
  /\b(?:subscribe|(?:sign|log)[ -]?(?:in|up)|register|create an? (?:free )?account)(?: now| today| for free)? to (?:continue|keep|read|unlock)(?: reading)?(?: (?:this|the (?:full|whole|rest))\b|[.!]?\s*(?:<|$))/;
const USED_UP =
  /\bpreview of subscription content\b|\bkeep reading with a\b.{0,20}\btrial\b|\breached your\b.{0,20}\b(?:articles?|monthly|free)\b/;
const FOR_MEMBERS_IN_JAPANESE =
  /この(?:記事|コンテンツ|ページ)は、?[^。<]{0,10}(?:会員|購読者)(?:限定|専用|のみ)|この記事は有料(?:記事|会員|です)|(?:会員|登録|購読|ログイン)[^。<]{0,12}続きを(?:お読み|読む|読め|ご覧|閲覧)|続きを(?:お?読み?|ご?覧|みる|見る|閲覧)[^。<]{0,8}には|ここから先は(?:有料|会員)/;
const WALL = new RegExp(
  [FOR_MEMBERS, FIRST_JOIN, USED_UP, FOR_MEMBERS_IN_JAPANESE].map(({ source }) => source).join("|"),
  "i",
);

function isWall(element: Element): boolean {
  const { textContent } = element;
  return textContent.length <= LONGEST_SIGN && WALL.test(textContent) && !element.closest(ELSEWHERE);
}

/** The longest beginning that is told by one sign alone: a short article of a site that sells some may be whole. */
const LONGEST_BEGINNING = 2000;

/** Whether a site shows only the beginning of a text to those who have not subscribed. */
export const isBeginning = (article: string, { isMarkedPaid, saysPaid }: Frame): boolean =>
  article.length < LONGEST_BEGINNING ? isMarkedPaid || saysPaid : isMarkedPaid && saysPaid;

const isRedirect = (meta: Element): boolean =>
  /^refresh$/i.test(meta.getAttribute("http-equiv") ?? "") && /;\s*url\s*=/i.test(meta.getAttribute("content") ?? "");

/** A longer text is more than a notice. */
export const LONGEST_NOTICE = 400;
/** The longest text of a page that asks for a password and is called so: sites list their languages there. */
const LONGEST_SIGN_IN = 2000;

/** Checks for humans, and what firewalls answer. */
const CHECKS =
  /\bjust a moment\b|verify(?:ing)? (?:that )?you(?:'re| are) (?:a )?human|are you (?:a robot|human)|not a (?:ro)?bot\b|think you were a bot|press (?:&|and) hold|unusual traffic|\bcaptcha\b|security of your connection|enter the characters you see|verifying your browser|request is being verified|pardon our interruption|incapsula incident|requested url was rejected|request (?:was |has been |is )?(?:blocked|unsuccessful)\b/;
/** Refusals, and what must be done first. */
const REFUSALS =
  /you have been blocked|access (?:to this page )?(?:has been |is )?denied|permission to access|you do not have access|access cannot be granted|unavailable (?:due to|for) legal reasons|disable any ad.?blocker|account (?:has been |is )?suspended|before you continue to|too many requests|subscribe to (?:continue|keep) reading|(?:log|sign)[ -]?in to (?:continue|view|see|read|access)|must (?:be (?:logged|signed)|log) in|log-?in (?:is )?required/;
/** Missing pages, failures of the site, and redirects of its own. */
const MISSING =
  /^(?:you are being )?redirect(?:ing|ed)\b|not (?:automatically )?redirected|^(?:error )?404\b|page (?:was |could )?not (?:be )?found|page (?:can't|cannot) be found|(?:can't|cannot|couldn't|could not) find (?:the|that|this) page|page (?:doesn't|does not|no longer) exists?\b|(?:page|content) (?:isn't|is not) available|^(?:error )?50[0-4]\b|^internal server error|^(?:the )?service (?:is )?(?:temporarily )?unavailable|error establishing a database connection|(?:under|performing)(?: some)?(?: scheduled)? maintenance|link (?:has |is )?expired/;
/** What old browsers are told. */
const OUTDATED =
  /browser is (?:not|no longer) supported|(?:using an|your) (?:outdated|unsupported|old) browser|browser is (?:outdated|out of date)|browser (?:ist|wird)(?: leider)? (?:veraltet|nicht (?:mehr )?unterstützt)|navigateur (?:est obsolète|n'est (?:plus|pas) (?:pris en charge|supporté))|navegador (?:está |es )?(?:obsoleto|desactualizado|no (?:es compatible|está soportado))/;
/** Missing pages in other languages of the web. */
const MISSING_ELSEWHERE =
  /seite (?:wurde )?(?:leider )?nicht gefunden|page (?:introuvable|non trouvée)|página no (?:encontrada|existe)|página não encontrada|pagina non trovata|pagina niet gevonden|страница не найдена|ページ(?:が|は)見つかりま|页面(?:不存在|未找到|找不到)|找不到(?:页面|頁面)/;
/** All of these in Japanese, whose notices are polite, and whose news is not; and articles that are no longer shown. */
const IN_JAPANESE = [
  /(?:ロボット(?:では|で)ない|人間である)ことを(?:確認|証明)|ロボットではありません|アクセスが集中[\s\S]{0,40}しばらく/,
  /アクセスが拒否されました|(?:このページ|このサイト|お客様)[^。]{0,10}アクセス(?:が|は)(?:拒否|制限|ブロック)され|権限がありません/,
  /(?:閲覧|利用|ご覧になる|続ける)には、?[^。]{0,10}ログインして|ログインが必要です|自動的に(?:移動|転送|切り替わ|ジャンプ)[^。]{0,3}ない(?:場合|とき)/,
  /メンテナンス(?:中です|中の?ため|を(?:実施|行)[^。]{0,6}ます)|ブラウザー?(?:は|では)[^。]{0,12}(?:サポートされていません|サポート対象外|対応していません|ご利用いただけません)/,
  /ページ(?:が|は|または記事は)(?:存在しません|[^。]{0,4}削除されました)|記事は(?:[^。]{0,4}削除され|掲載(?:期間)?(?:が|を)終了し|公開を終了し)(?:まし|ており)/,
];
const IN_PLACE_OF_PAGE = new RegExp(
  [CHECKS, REFUSALS, OUTDATED, MISSING, MISSING_ELSEWHERE, ...IN_JAPANESE].map(({ source }) => source).join("|"),
  "i",
);
const SIGN_IN = /\b(?:log|sign)[ -]?in\b|ログイン|サインイン/i;

/** Whether a site shows something else in place of the page. */
export function isInPlaceOfPage(title: string, article: string, { leadsElsewhere, asksForPassword }: Frame): boolean {
  const isShort = article.length < LONGEST_NOTICE;
  const says = (text: string): boolean => IN_PLACE_OF_PAGE.test(text.replaceAll("’", "'"));
  if (asksForPassword && article.length < LONGEST_SIGN_IN && SIGN_IN.test(isShort ? `${title} ${article}` : title))
    return true;
  return isShort && (leadsElsewhere || says(article) || says(title));
}
