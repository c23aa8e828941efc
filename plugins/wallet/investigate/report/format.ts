import { getAddress, isAddress } from "viem/utils";

/** `0x1234…AbCd`; EVM addresses as EIP-55 writes them. */
export function toShortAddress(address: string): string {
  const written = isAddress(address, { strict: false }) ? getAddress(address) : address;
  return `${written.slice(0, 6)}…${written.slice(-4)}`;
}

/** `2026-09-10 11:22 UTC`. @param seconds Unix seconds. */
export const toMoment = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** Escapes text for an element or a double-quoted attribute; characters that XML does not allow are removed. */
export const escapeXml = (text: string): string =>
  clean(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/**
 * Escapes untrusted text for a Markdown paragraph or table cell as one line of plain text. Text that would become a
 * link is broken up.
 */
export const escapeMarkdown = (text: string): string =>
  clean(text)
    .replaceAll(/[\\`*_{}[\]#!|<>~&]/g, (mark) => `\\${mark}`)
    .replaceAll(/:\/\/|@|www\./gi, (mark) => `${mark[0]}&#8203;${mark.slice(1)}`);

/** Removes control characters, lone surrogates and bidirectional marks. */
const clean = (text: string): string => text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");

/** Inline code, for addresses and field names. Backticks are removed. */
export const code = (text: string): string => `\`${clean(text).replaceAll("`", "")}\``;

/** A GitHub-flavoured Markdown table. @param rows cells in Markdown. */
export const toMarkdownTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
