/** The assumed length of a text without `maxLength`: a quarter of the default largest body. */
const LONGEST = 2 ** 18;
/** About 20 ms of backtracking in V8. */
const MOST_STEPS = 2 ** 22;

const GROUP = /\((?:\?(?:[:=!]|<[=!]|<\w+>))?/y;
const ATOM = /\\(?:[pPu]\{[^}]*\}|.)|\[(?:\\.|[^\]\\])*\]|[^\\[]/uy;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;

/**
 * What is wrong with the `pattern` of a schema, or nothing. When a text does not match, V8 tries every possible way to
 * match it, and callers choose the text. So a pattern is refused when the upper bound of these ways is too high.
 * @param maxLength of the schema, if it has one: longer texts are not matched.
 */
export function explainPattern(source: string, maxLength = LONGEST): string | undefined {
  try {
    new RegExp(source, "u");
  } catch (error) {
    return `is no regular expression: ${(error as Error).message.split(": ").at(-1)}`;
  }
  if (countWays(source, Math.max(maxLength, 1)) <= MOST_STEPS) return undefined;
  return 'a hostile text can keep it busy for too long; begin with "^", use at most one "*", "+" or "{n,}", repeat no group that can match in more than one way';
}

/** An upper bound of the ways to match a valid pattern against a text of this length. */
function countWays(source: string, length: number): number {
  let at = 0;
  const take = (token: RegExp): RegExpExecArray | null => {
    token.lastIndex = at;
    const found = token.exec(source);
    at += found?.[0].length ?? 0;
    return found;
  };
  const next = (text: string): boolean => source.startsWith(text, at);

  function choice(starts: number): number {
    let ways = 0;
    do {
      if (next("|")) at += 1;
      ways += next("^") ? sequence() : sequence() * starts;
    } while (next("|"));
    return ways;
  }
  function sequence(): number {
    let ways = 1;
    while (at < source.length && !next("|") && !next(")")) ways *= repeated(atom());
    return ways;
  }
  function atom(): number {
    if (take(GROUP)) {
      const ways = choice(1);
      at += 1; // the group's ")"
      return ways;
    }
    const [text = ""] = take(ATOM) ?? [];
    return /^\\[1-9k]/.test(text) ? Number.POSITIVE_INFINITY : 1;
  }
  function repeated(ways: number): number {
    const [found, sign, least, comma, most] = take(QUANTIFIER) ?? [];
    if (found === undefined) return ways;
    const min = least === undefined ? Number(sign === "+") : Number(least);
    const endless = sign === "*" || sign === "+" || (comma !== undefined && most === "");
    if (endless) return ways === 1 ? length : Number.POSITIVE_INFINITY;
    const max = sign === "?" ? 1 : Number(most ?? least);
    return (max - min + 1) * ways ** max;
  }
  return choice(length);
}
