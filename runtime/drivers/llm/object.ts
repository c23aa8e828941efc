/** How many starts are tried: the search is quadratic. */
const MOST_STARTS = 10;
/** The start of a whole object; a brace in prose or code is none. */
const START = /\{\s*["}]/g;
/** The same, also where the text breaks off behind the brace. */
const OBJECT_START = /\{\s*(?:"|$)/g;
/** The end of reasoning within the answer, for several models; some endpoints cut off its start. */
const REASONING_END = /<\/(?:think|thinking|reasoning)>|\[\/THINK\]|◁\/think▷|<\|channel\|>final<\|message\|>/gi;
const REASONING_START =
  /<(?:think|thinking|reasoning)>|\[THINK\]|◁think▷|<\|channel\|>(?:analysis|commentary)<\|message\|>/gi;

/**
 * The JSON objects in an answer: the whole text, or objects within prose, within a fence of backticks, or after the
 * model's reasoning. Returns lists in the order of preference: the objects after the reasoning, then all objects,
 * including drafts. Objects after an unfinished start of reasoning are drafts, and are ignored; so are those before an
 * object that has begun and does not end. A mark within an object is a quotation.
 */
export function findObjects(text: string): readonly (readonly object[])[] {
  const all = find(text);
  const end = marksIn(text, REASONING_END, all).at(-1);
  const final = end ? text.slice(end.index + end[0].length) : text;
  const found = find(final);
  const [start] = marksIn(final, REASONING_START, found);
  if (start) {
    const before = found.filter(({ from }) => from < start.index);
    return [toAnswers(final.slice(0, start.index), before)];
  }
  return end ? [toAnswers(final, found), toAnswers(text, all)] : [toAnswers(final, found)];
}

/** An object, with the part of the text that it is. */
interface Found {
  readonly object: object;
  readonly from: number;
  readonly to: number;
}

/** The objects; none when another one begins after them and does not end. */
function toAnswers(text: string, found: readonly Found[]): object[] {
  const rest = text.slice(found.at(-1)?.to ?? text.length);
  const begun = [...rest.matchAll(OBJECT_START)].slice(0, MOST_STARTS);
  return begun.some(({ index }) => endOf(rest, index) === undefined) ? [] : found.map(({ object }) => object);
}

/** The marks outside of all objects. */
const marksIn = (text: string, mark: RegExp, found: readonly Found[]): RegExpExecArray[] =>
  [...text.matchAll(mark)].filter(({ index }) => !found.some(({ from, to }) => from < index && index < to));

function find(text: string): Found[] {
  const found: Found[] = [];
  let [tried, next] = [0, 0];
  for (const { index: from } of text.matchAll(START)) {
    if (from < next) continue; // Within an object.
    const to = endOf(text, from);
    const object = to === undefined ? undefined : parse(text.slice(from, to));
    if (object && to !== undefined) {
      found.push({ object, from, to });
      next = to;
    }
    tried += 1;
    if (tried === MOST_STARTS) break;
  }
  return found;
}

/** Mends lone surrogates: strict parsers of JSON refuse them. Undefined for what is no JSON. */
function parse(text: string): object | undefined {
  try {
    return JSON.parse(text, (_, value) => (typeof value === "string" ? value.toWellFormed() : value));
  } catch {
    return undefined;
  }
}

/** The index after the brace that closes the one at `start`; braces within strings are ignored. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (isInString && character === "\\") at++;
    else if (character === '"') isInString = !isInString;
    else if (!isInString && character === "{") depth++;
    else if (!isInString && character === "}" && --depth === 0) return at + 1;
  }
  return undefined;
}
