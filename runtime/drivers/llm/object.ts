/** At how many braces an object may begin: more of them are no answer, and looking is quadratic. */
const MOST_STARTS = 10;

/** The first JSON object in a text: all of it, or what stands between prose or in a fence of backticks. */
export function findObject(text: string): object | undefined {
  let start = text.indexOf("{");
  for (let tried = 0; start >= 0 && tried < MOST_STARTS; tried++) {
    const end = endOf(text, start);
    const found = end === undefined ? undefined : parse(text.slice(start, end));
    if (found) return found;
    start = text.indexOf("{", start + 1);
  }
  return undefined;
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
    return JSON.parse(text) as object; // For it begins with a brace.
  } catch {
    return undefined;
  }
}
