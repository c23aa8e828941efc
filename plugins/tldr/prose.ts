import { type Element, type Page, parse, SURROUNDINGS, toText, withoutSpace } from "./dom.ts";

/** The shortest paragraph of prose, in letters that are no white space. */
const SHORTEST_PROSE = 80;
/** Chinese and Japanese say in one character what takes two letters or more elsewhere. */
const DENSE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/gu;
/** Where paragraphs are not of the page's text. */
const NO_PROSE = `${SURROUNDINGS}, [class*="comment" i], [id*="comment" i], .references`;
/** How much of its beginning tells whether a paragraph is in a text. */
const MARK_LENGTH = 40;
/** The share of the prose that the element around a text holds at least. */
export const MOST_PROSE = 0.8;

/** The paragraphs of prose, also in lists, outside of comments, references and of what surrounds a text. */
export const findProse = (page: Page): readonly Element[] =>
  [...page.querySelectorAll("p, li:not(:has(p, li))")].filter(
    (each) => isProse(withoutSpace(each.textContent)) && !each.closest(NO_PROSE),
  );

/** @param text without white space. */
const isProse = (text: string): boolean =>
  text.length >= SHORTEST_PROSE || text.length + (text.match(DENSE)?.length ?? 0) >= SHORTEST_PROSE;

const lengthOfAll = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

/** Whether a text has less than a share of a page's prose, and as little of its own. @param prose without white space. */
export function lacksProse(text: string, prose: readonly string[], share: number): boolean {
  const lines = text.split("\n").map(withoutSpace);
  const isLittle = (texts: readonly string[]): boolean => lengthOfAll(texts) < share * lengthOfAll(prose);
  if (!isLittle(lines.filter(isProse))) return false;
  const read = lines.join("");
  return isLittle(prose.filter((each) => read.includes(each.slice(0, MARK_LENGTH))));
}

/**
 * The text of the innermost element that holds most of a page's prose; "" when that is all over the page. Parses the page
 * again, since reading has changed it.
 */
export function readAround(html: string): string {
  const page = parse(html);
  const lengths = new Map<Element, number>();
  for (const paragraph of findProse(page))
    for (let at = paragraph.parentElement; at; at = at.parentElement)
      lengths.set(at, (lengths.get(at) ?? 0) + paragraph.textContent.length);
  const least = MOST_PROSE * (lengths.get(page.body) ?? 0);
  // Of elements that hold as much, the inner one came into the map first.
  const [around] =
    [...lengths].filter(([, length]) => length >= least).sort(([, one], [, other]) => one - other)[0] ?? [];
  if (!around || around === page.body || around === page.documentElement) return "";
  for (const element of page.querySelectorAll(NO_PROSE)) element.textContent = "";
  page.body.replaceChildren(around);
  return toText(page);
}
