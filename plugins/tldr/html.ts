import { Defuddle } from "defuddle/node";
import { parseHTML } from "linkedom";

/** The DOM as far as it is used here; linkedom's own types need TypeScript's DOM library. */
interface Page {
  readonly documentElement: Element | null;
  readonly head: Element;
  readonly body: Element;
  querySelectorAll(selectors: string): Iterable<Element>;
}
interface Element {
  readonly localName: string;
  readonly childNodes: Iterable<Element>;
  textContent: string;
  append(node: Element): void;
  before(text: string): void;
  after(text: string): void;
}

/** Unicode's line and paragraph separators mark breaks until the white space of the source is collapsed. */
const LINE = "\u2028";
const PARAGRAPH = "\u2029";
const LINES = "br, tr, li, dt, dd, option";
const PARAGRAPHS =
  "p, div, section, article, aside, header, footer, main, nav, h1, h2, h3, h4, h5, h6, ul, ol, dl, table, pre, blockquote, figure, figcaption, hr, form, details, summary";
const METADATA = /^(?:title|meta|link|base|style|script)$/;
/** Fetches nothing; `standardize` would only improve the look and take half of the time. */
const OPTIONS = { useAsync: false, removeImages: true, standardize: false };

/** The title and the main article of a page as text, with an empty line between paragraphs; "" when the page has no text. */
export async function readHtml(html: string, url: string): Promise<string> {
  const { title, content } = await Defuddle(parse(html) as never, url, OPTIONS);
  const article = toText(parse(content));
  return article === "" || title === "" || article.startsWith(title) ? article : `${title}\n\n${article}`;
}

/** Adds the tags that HTML allows to omit: linkedom does not. */
function parse(html: string): Page {
  const read = toDom(html);
  const page = read.documentElement?.localName === "html" ? read : toDom(`<!doctype html><html>${html}</html>`);
  const { head, body, documentElement } = page; // linkedom creates head and body on access.
  for (const node of [...(documentElement?.childNodes ?? [])])
    if (node !== head && node !== body) (METADATA.test(node.localName) ? head : body).append(node);
  return page;
}

const toDom = (html: string): Page => (parseHTML(html) as unknown as { document: Page }).document;

function toText(page: Page): string {
  for (const code of page.querySelectorAll("pre")) code.textContent = code.textContent.replaceAll("\n", LINE);
  for (const cell of page.querySelectorAll("td, th")) cell.after(" ");
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
