const VARIABLE = /^\s*(?:#|$|(?:export\s+)?[A-Za-z_][\w.-]*\s*=)/;

/** The numbers of the lines that set no variable, which Node ignores. Values in quotes may have several lines. */
export function findStrayLines(text: string): readonly number[] {
  const plain = text
    .replace(/^\uFEFF/, "")
    .replaceAll(/^[^#\n]*?=[ \t]*(["'`])[\s\S]*?\1/gm, (whole) => `x=${"\n#".repeat(whole.split("\n").length - 1)}`);
  return plain.split("\n").flatMap((line, at) => (VARIABLE.test(line) ? [] : [at + 1]));
}
