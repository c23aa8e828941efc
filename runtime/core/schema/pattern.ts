/** The assumed length of a text without `maxLength`: a quarter of the default largest body. */
const LONGEST = 2 ** 18;
/** About 20 ms of backtracking in V8, where little is matched after each choice. */
const MOST_WAYS = 2 ** 22;
/** About 0.3 seconds for such a text, and a quarter of that for the default largest body. */
const MOST_STEPS = 2 ** 27;

const GROUP = /\((?:\?(?:[:=!]|<[=!]|<\w+>))?/y;
const ATOM = /\\(?:[pPu]\{[^}]*\}|.)|\[(?:\\.|[^\]\\])*\]|[^\\[]/uy;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;

/**
 * What is wrong with the `pattern` of a schema, or nothing. When a text does not match, V8 tries every possible way to
 * match it, and callers choose the text. So a pattern is refused when the upper bound of these ways is too high, or that of
 * the characters that they look at.
 * @param maxLength of the schema, if it has one: longer texts are not matched.
 */
export function explainPattern(source: string, maxLength = LONGEST): string | undefined {
  try {
    new RegExp(source, "u");
  } catch (error) {
    return `is no regular expression: ${(error as Error).message.split(": ").at(-1)}`;
  }
  const { ways, steps } = measure(source, Math.max(maxLength, 1));
  if (ways <= MOST_WAYS && steps <= MOST_STEPS) return undefined;
  if (ways <= MOST_WAYS)
    return 'a hostile text can keep it busy for too long; begin with "^", or repeat fewer times what must match in full';
  return 'a hostile text can keep it busy for too long; begin with "^", use at most one "*", "+" or "{n,}", repeat no group that can match in more than one way';
}

/** Upper bounds for a part of a pattern. */
interface Effort {
  /** The ways to match it. */
  readonly ways: number;
  /** The characters that are looked at until all ways have been tried. */
  readonly steps: number;
}

/** Upper bounds for a valid pattern and a text of this length. */
function measure(source: string, length: number): Effort {
  let at = 0;
  const take = (token: RegExp): RegExpExecArray | null => {
    token.lastIndex = at;
    const found = token.exec(source);
    at += found?.[0].length ?? 0;
    return found;
  };
  const next = (text: string): boolean => source.startsWith(text, at);

  function choice(starts: number): Effort {
    let [ways, steps] = [0, 0];
    do {
      if (next("|")) at += 1;
      const times = next("^") ? 1 : starts;
      const one = sequence();
      ways += one.ways * times;
      steps += one.steps * times;
    } while (next("|"));
    return { ways, steps };
  }
  function sequence(): Effort {
    let [ways, steps] = [1, 0];
    while (at < source.length && !next("|") && !next(")")) {
      const one = repeated(atom());
      steps += ways * one.steps; // Once for each way to what stands before it.
      ways *= one.ways;
    }
    return { ways, steps };
  }
  function atom(): Effort {
    if (take(GROUP)) {
      const inner = choice(1);
      at += 1; // the group's ")"
      return inner;
    }
    const [text = ""] = take(ATOM) ?? [];
    return { ways: /^\\[1-9k]/.test(text) ? Number.POSITIVE_INFINITY : 1, steps: 1 };
  }
  function repeated({ ways, steps }: Effort): Effort {
    const [found, sign, least, comma, most] = take(QUANTIFIER) ?? [];
    if (found === undefined) return { ways, steps };
    const min = least === undefined ? Number(sign === "+") : Number(least);
    const endless = sign === "*" || sign === "+" || (comma !== undefined && most === "");
    if (endless) return { ways: ways === 1 ? length : Number.POSITIVE_INFINITY, steps: length * steps };
    const max = sign === "?" ? 1 : Number(most ?? least);
    return { ways: (max - min + 1) * ways ** max, steps: max * steps * ways ** (max - 1) };
  }
  return choice(length);
}
