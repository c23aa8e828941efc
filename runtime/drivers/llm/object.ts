/** How many opening braces are tried: the search is quadratic. */
const MOST_STARTS = 10;
/** The end of reasoning within the answer, for several models; some endpoints cut off its start. */
const REASONING_END = /<\/(?:think|thinking|reasoning)>|\[\/THINK\]|◁\/think▷|<\|channel\|>final<\|message\|>/gi;
const REASONING_START =
  /<(?:think|thinking|reasoning)>|\[THINK\]|◁think▷|<\|channel\|>(?:analysis|commentary)<\|message\|>/i;

/**
 * The JSON objects in an answer: the whole text, or objects within prose, within a fence of backticks, or after the
 * model's reasoning. Returns lists in the order of preference: the objects after the reasoning, then all objects,
 * including drafts. Objects after an unfinished start of reasoning are drafts, and are ignored.
 */
export function findObjects(text: string): readonly (readonly object[])[] {
  const end = [...text.matchAll(REASONING_END)].at(-1);
  const final = end ? text.slice(end.index + end[0].length) : text;
  const start = final.search(REASONING_START);
  if (start >= 0) return [find(final.slice(0, start))];
  return end ? [find(final), find(text)] : [find(text)];
}

function find(text: string): object[] {
  const objects: object[] = [];
  let start = text.indexOf("{");
  for (let tried = 0; start >= 0 && tried < MOST_STARTS; tried++) {
    const end = endOf(text, start);
    const found = end === undefined ? undefined : parse(text.slice(start, end));
    if (found) objects.push(found);
    start = text.indexOf("{", found && end !== undefined ? end : start + 1);
  }
  return objects;
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
