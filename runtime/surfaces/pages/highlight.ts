import { type Html, html } from "./html.ts";

export type Language = "sh" | "js" | "python" | "json";

const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*'/;
const NUMBER = /\b\d[\d_]*(?:\.\d+)?\b/;

interface Grammar {
  readonly comment?: RegExp;
  /** Words coloured as keywords. */
  readonly word: RegExp;
}

const GRAMMARS: Readonly<Record<Language, Grammar>> = {
  sh: { comment: /(?<![^\s])#[^\n]*/, word: /(?<=^|\n)(?:npx|curl|payphone)\b|(?<=\s)--?[a-zA-Z][\w-]*/ },
  js: { comment: /\/\/[^\n]*/, word: /\b(?:import|from|const|await|new|return|async|function|export)\b/ },
  python: { comment: /#[^\n]*/, word: /\b(?:import|from|with|as|print|return|def)\b/ },
  json: { word: /\b(?:true|false|null)\b/ },
};

const PATTERNS: Readonly<Record<Language, RegExp>> = Object.fromEntries(
  Object.entries(GRAMMARS).map(([language, { comment, word }]) => [
    language,
    new RegExp(
      [comment && `(?<c>${comment.source})`, `(?<s>${STRING.source})`, `(?<k>${word.source})`, `(?<n>${NUMBER.source})`]
        .filter(Boolean)
        .join("|"),
      "g",
    ),
  ]),
) as Record<Language, RegExp>;

/** Code with its comments, strings, keywords and numbers marked by the classes `c`, `s`, `k` and `n`. */
export function toCode(code: string, language: Language): Html {
  const parts: (Html | string)[] = [];
  let at = 0;
  for (const match of code.matchAll(PATTERNS[language])) {
    const [kind = ""] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [];
    parts.push(code.slice(at, match.index), html`<span class="${kind}">${match[0]}</span>`);
    at = match.index + match[0].length;
  }
  return html`<pre tabindex="0"><code>${[...parts, code.slice(at)]}</code></pre>`;
}
