import { parseHTML } from "linkedom";
import { LONGEST_NOTICE } from "./guards.ts";

/** The part of the DOM that is used here; linkedom's own types need TypeScript's DOM library. */
export interface Page {
  readonly documentElement: Element | null;
  readonly head: Element;
  readonly body: Element;
  readonly childNodes: Iterable<Element>;
  querySelectorAll(selectors: string): Iterable<Element>;
}
export interface Element {
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
  replaceChildren(node: Element): void;
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
/** Elements that the reader drops, and in which the text of some pages stands. */
const DROPPED = "form, fieldset, .toc, #toc, .sidebar, #sidebar";
/** Elements whose text is none of the page's. */
const NO_TEXT = "script, style, noscript, template, select, textarea";
/** Elements around a text, even within its main element. */
export const SURROUNDINGS = "nav, aside, footer, script, style, noscript, template, form";

/**
 * Adds the tags that HTML allows to omit, and what stands behind the page's end, as browsers do: linkedom does neither.
 * Takes away what the reader would drop with the text in it: an element that holds the page, and the header of an
 * article, in which its lead stands.
 */
export function parse(html: string): Page {
  const read = toDom(html);
  const page = read.documentElement?.localName === "html" ? read : toDom(`<!doctype html><html>${html}</html>`);
  const { head, body, documentElement } = page; // linkedom creates head and body on access.
  for (const node of [...(documentElement?.childNodes ?? [])])
    if (node !== head && node !== body) (METADATA.test(node.localName) ? head : body).append(node);
  for (const node of [...page.childNodes]) if (node !== documentElement && SHOWN.has(node.nodeType)) body.append(node);
  for (const around of page.querySelectorAll(DROPPED))
    if (holdsText(around, page)) around.replaceWith(...around.childNodes);
  for (const hidden of page.querySelectorAll("noscript"))
    if (withoutSpace(hidden.textContent).length > LONGEST_NOTICE) hidden.replaceWith(...hidden.childNodes);
  for (const header of page.querySelectorAll("article header"))
    if (!header.querySelector("nav")) header.replaceWith(...header.childNodes);
  return page;
}

/** Whether most of the text of an article, or of a page without one, is in an element: an index is a table of contents. */
function holdsText(element: Element, { body }: Page): boolean {
  const length = lengthOf(element);
  return length > LONGEST_NOTICE && 2 * length > lengthOf(element.closest("article, main") ?? body);
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

export function toText(page: Page): string {
  for (const code of page.querySelectorAll("pre")) code.textContent = code.textContent.replaceAll("\n", LINE);
  for (const removed of page.querySelectorAll("del, s, strike, rt, rp")) removed.textContent = "";
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

export const withoutSpace = (text: string): string => text.replace(/\s+/g, "");
