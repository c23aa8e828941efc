import { Defuddle } from "defuddle/node";
import type { DocumentText } from "./document-task.ts";
import { type Element, type Page, parse, SURROUNDINGS, toText, withoutSpace } from "./dom.ts";
import { isBeginning, isInPlaceOfPage, LONGEST_NOTICE, readFrame } from "./guards.ts";
import { findProse, lacksProse, MOST_PROSE, readAround } from "./prose.ts";

/**
 * Fetches nothing; `standardize` would only improve the look and take half of the time, and patterns of contents take all
 * that follows a heading such as "Comment" in a table.
 */
const OPTIONS = { useAsync: false, removeImages: true, standardize: false, removeContentPatterns: false };

/** An element of XHTML that closes itself: all that follows would be in it, since in HTML only some elements end so. */
const SELF_CLOSED =
  /<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)([a-z][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*\/>/gi;

/** Texts of pages that show nothing without scripts. */
const SCRIPTS_WANTED =
  /\b(?:enable|turn on|activate|requires?|needs?|without)\W+(?:\w+\W+){0,5}(?:javascript|js)\b|\bjavascript\W+(?:\w+\W+){0,4}(?:required|disabled|enabled?)\b|\bchecking your browser\b|javascript[^。]{0,15}(?:有効に|オンに|無効)/i;
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
/** In characters: to read a longer page twice could take more processor time than reading may. */
const LONGEST_READ_TWICE = 500_000;
/** How much of its longest line tells in which post a text is. */
const LONGEST_MARK = 40;
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
  const prose = findProse(page).map(({ textContent }) => withoutSpace(textContent));
  const hasMain = page.documentElement?.querySelector(`main, ${POSTS.join()}`);
  const { title, content } = await Defuddle(page, url, OPTIONS);
  const kept = toText(parse(content));
  const isPoor = html.length <= LONGEST_READ_TWICE && lacksProse(kept, prose, MOST_PROSE);
  const found = isPoor ? longer(kept, await readWithClutter(html, url)) : kept;
  const main = hasMain ? readMain(html, found) : "";
  const shown = main.length > 2 * found.length ? main : (lacksProse(found, prose, 0.5) && readAround(html)) || found;
  const article = structured.length > 2 * shown.length ? structured : shown;
  const isNotice = article.length < LONGEST_NOTICE && SCRIPTS_WANTED.test(article);
  const isLoading = article.length < LONGEST_LOADING && (isApp || SCRIPTS_WANTED.test(hints));
  const text = article === "" || title === "" || article.startsWith(title) ? article : `${title}\n\n${article}`;
  const isGuarded = isInPlaceOfPage(title, article, frame);
  const isFramed = article.length < LONGEST_LOADING && frame.hasFrames;
  const isPart = article !== structured && isBeginning(article, frame);
  return { text, needsScripts: isNotice || isLoading, isGuarded, isFramed, isPart };
}

/** The article with what the reader takes for clutter by its class: lists of posts, or sections of a hero. */
async function readWithClutter(html: string, url: string): Promise<string> {
  const { content } = await Defuddle(parse(html), url, { ...OPTIONS, removePartialSelectors: false });
  return toText(parse(content));
}

const longer = (one: string, other: string): string => (other.length > one.length ? other : one);

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
