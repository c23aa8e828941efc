import { Defuddle } from "defuddle/node";
import { parseHTML } from "linkedom";
import type { DocumentText } from "./document-task.ts";
import { isBeginning, isInPlaceOfPage, LONGEST_NOTICE, readFrame } from "./guards.ts";

/** The part of the DOM that is used here; linkedom's own types need TypeScript's DOM library. */
interface Page {
  readonly documentElement: Element | null;
  readonly head: Element;
  readonly body: Element;
  readonly childNodes: Iterable<Element>;
  querySelectorAll(selectors: string): Iterable<Element>;
}
interface Element {
  readonly localName: string;
  readonly nodeType: number;
  readonly childNodes: Iterable<Element>;
  readonly lastElementChild: Element | null;
  readonly nextSibling: Element | null;
  readonly parentElement: Element | null;
  textContent: string;
  getAttribute(name: string): string | null;
  querySelector(selectors: string): Element | null;
  querySelectorAll(selectors: string): Iterable<Element>;
  closest(selectors: string): Element | null;
  append(node: Element): void;
  before(text: string): void;
  after(text: string): void;
  replaceWith(...nodes: Element[]): void;
}

/** Unicode's line and paragraph separators mark breaks until the white space of the source is collapsed. */
const LINE = "\u2028";
const PARAGRAPH = "\u2029";
const LINES = "br, tr, li, dt, dd, option";
const PARAGRAPHS =
  "p, div, section, article, aside, header, footer, main, nav, h1, h2, h3, h4, h5, h6, ul, ol, dl, table, pre, blockquote, figure, figcaption, hr, form, details, summary";
/** The types of elements and texts. */
const SHOWN: ReadonlySet<number> = new Set([1, 3]);
const METADATA = /^(?:title|meta|link|base|style|script)$/;
/** Fetches nothing; `standardize` would only improve the look and take half of the time. */
const OPTIONS = { useAsync: false, removeImages: true, standardize: false };

/** An element of XHTML that closes itself: all that follows would be in it, since in HTML only some elements end so. */
const SELF_CLOSED =
  /<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)([a-z][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*\/>/gi;

/** Texts of pages that show nothing without scripts. */
const SCRIPTS_WANTED =
  /\b(?:enable|turn on|activate|requires?|needs?|without)\W+(?:\w+\W+){0,5}(?:javascript|js)\b|\bjavascript\W+(?:\w+\W+){0,4}(?:required|disabled|enabled?)\b|\bchecking your browser\b/i;
/** The elements into which frameworks render a page. */
const CONTAINERS = "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, app-root, [ng-app], [data-reactroot]";
/** The longest text that an application shows while it loads, or a page above its frame. */
const LONGEST_LOADING = 60;
/** The elements of which a thread or a blog has several, and the reader takes one. */
const POSTS = [
  'article:not([class*="comment"])',
  '[role="article"]',
  ".post",
  ".post-content",
  ".post-body",
  ".entry-content",
];
/** How much of its longest line tells in which post a text is. */
const LONGEST_MARK = 40;
/** Elements that the reader drops, and in which the text of some pages stands. */
const DROPPED = "form, fieldset, .toc, #toc, .sidebar, #sidebar";
/** Elements whose text is none of the page's. */
const NO_TEXT = "script, style, noscript, template, select, textarea";
/** Elements around a text, even within its main element. */
const SURROUNDINGS = "nav, aside, footer, script, style, noscript, template, form";

/**
 * The title and the main article of a page as text, with an empty line between paragraphs; "" when the page has no
 * text. The main element, or all posts of a page without one, are taken when the article is less than half of them
 * (for instance a question without its answers). The text for search engines (schema.org `articleBody`) is taken when
 * it is twice as long. @param isXml whether it is XHTML.
 */
export async function readHtml(given: string, url: string, isXml = false): Promise<DocumentText> {
  const html = isXml ? given.replace(SELF_CLOSED, "<$1$2></$1>") : given;
  const page = parse(html);
  const hints = textsOf(page, "noscript").join(" ");
  const isApp = textsOf(page, CONTAINERS).length > 0 && textsOf(page, "script").length > 0;
  const frame = readFrame(page, html);
  const structured = readArticleBody(page);
  const hasMain = page.documentElement?.querySelector(`main, ${POSTS.join()}`);
  const { title, content } = await Defuddle(page as never, url, OPTIONS);
  const found = toText(parse(content));
  const main = hasMain ? readMain(html, found) : "";
  const shown = main.length > 2 * found.length ? main : found;
  const article = structured.length > 2 * shown.length ? structured : shown;
  const isNotice = article.length < LONGEST_NOTICE && SCRIPTS_WANTED.test(article);
  const isLoading = article.length < LONGEST_LOADING && (isApp || SCRIPTS_WANTED.test(hints));
  const text = article === "" || title === "" || article.startsWith(title) ? article : `${title}\n\n${article}`;
  const isGuarded = isInPlaceOfPage(title, article, frame);
  const isFramed = article.length < LONGEST_LOADING && frame.hasFrames;
  const isPart = article !== structured && isBeginning(article, frame);
  return { text, needsScripts: isNotice || isLoading, isGuarded, isFramed, isPart };
}

const textsOf = (page: Page, selectors: string): string[] =>
  [...page.querySelectorAll(selectors)].map(({ textContent }) => textContent);

/** The only main element, or all posts of the found one's kind. Parses the page again: reading changes it. */
function readMain(html: string, found: string): string {
  const page = parse(html);
  for (const element of page.querySelectorAll(SURROUNDINGS)) element.textContent = "";
  const mains = [...page.querySelectorAll("main")];
  const whole = mains.length === 1 ? mains : findPosts(page, found);
  page.body.textContent = "";
  for (const element of whole) page.body.append(element);
  return toText(page);
}

function findPosts(page: Page, found: string): readonly Element[] {
  const lines = found.split("\n").map(withoutSpace);
  const longest = lines.reduce((one, other) => (other.length > one.length ? other : one)).slice(0, LONGEST_MARK);
  const isFound = ({ textContent }: Element): boolean => withoutSpace(textContent).includes(longest);
  return POSTS.map((kind) => outermostOf(page, kind)).find((posts) => posts.some(isFound)) ?? [];
}

const outermostOf = (page: Page, kind: string): readonly Element[] =>
  [...page.querySelectorAll(kind)].filter(({ parentElement }) => !parentElement?.closest(kind));

const withoutSpace = (text: string): string => text.replace(/\s+/g, "");

/** The article in the page's JSON-LD; "" without one, and of several, which are those of other pages. */
function readArticleBody(page: Page): string {
  const scripts = textsOf(page, 'script[type="application/ld+json"]').join("\n");
  const bodies = [...scripts.matchAll(/"articleBody"\s*:\s*("(?:[^"\\]|\\.)*")/g)].map(([, body = ""]) => body);
  return new Set(bodies).size === 1 ? toPlain(bodies[0] as string) : "";
}

function toPlain(json: string): string {
  try {
    return toText(parse(String(JSON.parse(json)).replaceAll("\n", "<br>")));
  } catch {
    return "";
  }
}

/**
 * Adds the tags that HTML allows to omit, and what stands behind the page's end, as browsers do: linkedom does neither.
 * Takes away what the reader would drop with the text in it: an element that holds the page, and the header of an
 * article, in which its lead stands.
 */
function parse(html: string): Page {
  const read = toDom(html);
  const page = read.documentElement?.localName === "html" ? read : toDom(`<!doctype html><html>${html}</html>`);
  const { head, body, documentElement } = page; // linkedom creates head and body on access.
  for (const node of [...(documentElement?.childNodes ?? [])])
    if (node !== head && node !== body) (METADATA.test(node.localName) ? head : body).append(node);
  for (const node of [...page.childNodes]) if (node !== documentElement && SHOWN.has(node.nodeType)) body.append(node);
  for (const around of page.querySelectorAll(DROPPED))
    if (holdsPage(around, page)) around.replaceWith(...around.childNodes);
  for (const header of page.querySelectorAll("article header"))
    if (!header.querySelector("nav")) header.replaceWith(...header.childNodes);
  return page;
}

/** Whether most of a page's text is in an element: some servers put it into a form, and an index is a table of contents. */
function holdsPage(element: Element, { body }: Page): boolean {
  const length = lengthOf(element);
  return length > LONGEST_NOTICE && 2 * length > lengthOf(body);
}

/** The length of an element's text without white space. */
const lengthOf = (element: Element): number =>
  [...element.querySelectorAll(NO_TEXT)].reduce(
    (length, { textContent }) => length - withoutSpace(textContent).length,
    withoutSpace(element.textContent).length,
  );

const toDom = (html: string): Page => (parseHTML(html) as unknown as { document: Page }).document;

/** Without marks, ten to the power of 6 would be 106, three and 1/2 31/2, and the first footnote of 2020 20201. */
function writeFormulas(page: Page): void {
  for (const raised of page.querySelectorAll("sup")) {
    const isFraction = /^\s*[/\u2044]/.test(raised.nextSibling?.textContent ?? "");
    if (/^[-+\u2212]?\d+$/.test(raised.textContent)) raised.before(isFraction ? " " : "^");
  }
  for (const math of page.querySelectorAll("math")) {
    const tex = math.getAttribute("alttext") ?? math.querySelector("annotation")?.textContent;
    if (tex) math.textContent = tex;
  }
  for (const power of page.querySelectorAll("msup")) power.lastElementChild?.before("^");
  for (const fraction of page.querySelectorAll("mfrac")) fraction.lastElementChild?.before("/");
}

function toText(page: Page): string {
  for (const code of page.querySelectorAll("pre")) code.textContent = code.textContent.replaceAll("\n", LINE);
  for (const removed of page.querySelectorAll("del, s, strike")) removed.textContent = "";
  writeFormulas(page);
  for (const cell of page.querySelectorAll(":is(td, th) + :is(td, th)")) cell.before(" | ");
  for (const line of page.querySelectorAll(LINES)) line.after(LINE);
  for (const paragraph of page.querySelectorAll(PARAGRAPHS)) {
    paragraph.before(PARAGRAPH);
    paragraph.after(PARAGRAPH);
  }
  return page.body.textContent
    .replace(/[^\S\u2028\u2029]+/g, " ")
    .replace(/ ?[\u2028\u2029]\s*/g, (gap) => (gap.includes(PARAGRAPH) ? "\n\n" : "\n"))
    .trim();
}
