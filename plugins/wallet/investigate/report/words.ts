/** `0x1234…abcd`. */
export const toShortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`;

/** `2026-09-10 11:22 UTC`. @param seconds Unix seconds. */
export const toMoment = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** Text between an element's tags, or in an attribute in double quotes; characters that XML does not have are left out. */
export const escapeXml = (text: string): string =>
  clean(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/**
 * Text in a paragraph or a table's cell of Markdown: what strangers have written stays plain text on one line. A word that
 * would become a link by itself is broken up.
 */
export const escapeMarkdown = (text: string): string =>
  clean(text)
    .replaceAll(/[\\`*_{}[\]#!|<>~&]/g, (mark) => `\\${mark}`)
    .replaceAll(/:\/\/|@|www\./gi, (mark) => `${mark[0]}&#8203;${mark.slice(1)}`);

/** Without control characters, lone surrogates, and marks that turn the direction of the text around them. */
const clean = (text: string): string => text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");

/** Text that is no word: an address, a name of a field. @param text without backticks. */
export const code = (text: string): string => `\`${clean(text).replaceAll("`", "")}\``;

/** A table of GitHub's Markdown. @param rows cells that are Markdown already. */
export const toTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
