/** Where a text stops being JSON (RFC 8259), in UTF-16 units, and the message of Python's decoder for it. */
export interface JsonFault {
  readonly position: number;
  readonly error: string;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const PLAIN = /[ !#-[\]-\uffff]*/y; // no control characters, quotes and backslashes
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The end of the token that begins at `at`, or `at` itself where there is none. */
function skip(token: RegExp, text: string, at: number): number {
  token.lastIndex = at;
  return token.test(text) ? token.lastIndex : at;
}

/** Finds the first fault of a text that `JSON.parse` has refused. Iterative, so that depth costs no stack. */
export function findJsonFault(text: string): JsonFault {
  const open: ("}" | "]")[] = [];
  let expected: "value" | "value or ]" | "key" | "key or }" | "more" = "value";
  let at = 0;
  for (;;) {
    at = skip(SPACE, text, at);
    const found = text[at];
    if (expected === "more") {
      const closer = open.at(-1);
      if (closer === undefined) return { position: at, error: "Extra data" };
      if (found === closer) open.pop();
      else if (found === ",") expected = closer === "}" ? "key" : "value";
      else return { position: at, error: "Expecting ',' delimiter" };
      at++;
    } else if ((expected === "key or }" && found === "}") || (expected === "value or ]" && found === "]")) {
      open.pop();
      expected = "more";
      at++;
    } else if (found === '"') {
      const end = endOfString(text, at);
      if (typeof end !== "number") return end;
      at = end;
      if (expected.startsWith("key")) {
        at = skip(SPACE, text, at);
        if (text[at] !== ":") return { position: at, error: "Expecting ':' delimiter" };
        at++;
        expected = "value";
      } else expected = "more";
    } else if (expected.startsWith("key")) {
      return { position: at, error: "Expecting property name enclosed in double quotes" };
    } else if (found === "{" || found === "[") {
      open.push(found === "{" ? "}" : "]");
      expected = found === "{" ? "key or }" : "value or ]";
      at++;
    } else {
      const end = skip(SCALAR, text, at);
      if (end === at) return { position: at, error: "Expecting value" };
      at = end;
      expected = "more";
    }
  }
}

/** The position after the string that begins at `start`, or its fault. */
function endOfString(text: string, start: number): number | JsonFault {
  let at = start + 1;
  for (;;) {
    at = skip(PLAIN, text, at);
    if (text[at] === '"') return at + 1;
    if (at >= text.length) return { position: start, error: "Unterminated string starting at" };
    if (text[at] !== "\\") return { position: at, error: "Invalid control character at" };
    const end = skip(ESCAPE, text, at);
    if (end === at) return { position: at, error: "Invalid \\escape" };
    at = end;
  }
}
