const VARIABLE = /^\s*(?:#|$|(?:export\s+)?[A-Za-z_][\w.-]*\s*=)/;

/** A variable whose value is in quotes, and may have several lines. */
const QUOTED = /^[^#=\n]*=[ \t]*(["'`])[\s\S]*?\1/gm;

/** The numbers of the lines that set no variable, which Node ignores. Values in quotes may have several lines. */
export function findStrayLines(text: string): readonly number[] {
  const plain = text
    .replace(/^\uFEFF/, "")
    .replaceAll(QUOTED, (whole) => `x=${"\n#".repeat(whole.split("\n").length - 1)}`);
  return plain.split("\n").flatMap((line, at) => (VARIABLE.test(line) ? [] : [at + 1]));
}

/** A variable in a further line. No other text has one: base64 has no underscores. */
const LATER = /\n[ \t]*(?:export\s+)?[A-Za-z][A-Za-z\d]*_\w*\s*=/;

/** The number of the first line whose quote ends only behind later variables: its value would show their secrets. */
export function findOpenQuote(text: string): number | undefined {
  const open = [...text.matchAll(QUOTED)].find(([whole]) => LATER.test(whole));
  return open && text.slice(0, open.index).split("\n").length;
}
