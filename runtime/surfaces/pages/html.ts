/** Markup whose texts are escaped. */
export interface Html {
  readonly markup: string;
}

/** The value of a template's placeholder: texts are escaped, lists are joined, false and undefined are left out. */
export type HtmlPart = Html | string | number | false | undefined | readonly HtmlPart[];

/** A template whose values are escaped, except markup. */
export function html(pieces: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return { markup: pieces.map((piece, at) => (at === 0 ? "" : toMarkup(parts[at - 1])) + piece).join("") };
}

/** A manifest's text; words between backticks become code. */
export const toProse = (text: string): Html =>
  html`${text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`;

/** JSON for a data block of a page, escaped so that it cannot end the block. */
export const toDataBlock = (value: unknown): Html => ({ markup: JSON.stringify(value).replaceAll("<", "\\u003c") });

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function toMarkup(part: HtmlPart): string {
  if (part === undefined || part === false) return "";
  if (Array.isArray(part)) return part.map(toMarkup).join("");
  if (typeof part === "object") return (part as Html).markup;
  return String(part).replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign] as string);
}
