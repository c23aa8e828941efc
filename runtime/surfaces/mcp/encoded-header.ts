const ENCODED = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;
const SAFE = /^[\t\x20-\x7e]*$/;

/**
 * The decoded value of a header: its text, or what `=?base64?…?=` encodes in UTF-8 (MCP 2026-07-28, "Value Encoding").
 * Undefined when the encoding is malformed or the value has characters that no header may have.
 */
export function decodeHeader(text: string): string | undefined {
  if (!SAFE.test(text)) return undefined;
  if (!text.startsWith("=?base64?") || !text.endsWith("?=")) return text;
  const encoded = ENCODED.exec(text)?.[1];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, "base64").toString("utf8");
  return Buffer.from(decoded).toString("base64") === encoded ? decoded : undefined; // Not UTF-8 when the texts differ.
}
