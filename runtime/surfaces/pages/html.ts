/** A piece of a page whose texts are escaped. */
export interface Html {
  readonly markup: string;
}

/** What may stand between pieces: texts are escaped, lists are joined, and what is absent leaves nothing. */
export type Part = Html | string | number | false | undefined | readonly Part[];

/** A template whose every value is escaped, unless it is a piece already. */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: pieces.map((piece, at) => (at === 0 ? "" : toMarkup(parts[at - 1])) + piece).join("") };
}

/** A text of a manifest, in which `words` between backticks are code. */
export const toProse = (text: string): Html =>
  html`${text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`;

/** JSON for a data block of a page, where no text of it can end the block. */
export const toDataBlock = (value: unknown): Html => ({ markup: JSON.stringify(value).replaceAll("<", "\\u003c") });

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function toMarkup(part: Part): string {
  if (part === undefined || part === false) return "";
  if (Array.isArray(part)) return part.map(toMarkup).join("");
  if (typeof part === "object") return (part as Html).markup;
  return String(part).replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign] as string);
}
