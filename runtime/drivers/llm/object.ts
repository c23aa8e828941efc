/** At how many braces an object may begin: the search is quadratic. */
const MOST_STARTS = 10;
/** The end of reasoning inside of the answer, in the words of several models; some endpoints cut off its beginning. */
const REASONING_END = /<\/(?:think|thinking|reasoning)>|\[\/THINK\]|◁\/think▷|<\|channel\|>final<\|message\|>/gi;
const REASONING_START =
  /<(?:think|thinking|reasoning)>|\[THINK\]|◁think▷|<\|channel\|>(?:analysis|commentary)<\|message\|>/i;

/**
 * The JSON objects in an answer: the whole text, or objects between prose, in a fence of backticks, or after the model's
 * reasoning. The first list with the object that is wanted counts: all objects, drafts in the reasoning included, are the
 * second one. Reasoning that does not end has drafts alone.
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

/** Just behind the brace that closes the one at `start`; braces inside of strings do not count. */
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

function parse(text: string): object | undefined {
  try {
    return JSON.parse(text) as object; // The text begins with a brace.
  } catch {
    return undefined;
  }
}
