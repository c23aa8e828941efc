/** How many bytes are searched for an encoding declaration (HTML Standard, 13.2.3.2). */
const PRESCAN_BYTES = 1024;
const DECLARATION = /<(?:meta|\?xml)\b[^>]*?\b(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)/i;
/** Encodings of seven bits that cannot be read here: as ASCII, they would be letters that nobody wrote. */
const UNREAD = /^(?:utf-?7|iso-2022-(?:kr|cn|cn-ext)|csiso2022kr|hz-gb-2312)$/i;
/** What many servers say of every text (RFC 2854). Letters of Latin-1 are hardly ever valid UTF-8. */
const LATIN_1 = /^(?:iso[-_]?8859-1|latin-?1|windows-1252|cp-?1252|(?:us-)?ascii)$/i;
const UNREADABLE = "\ufffd";
/** What Japanese begins with in ISO-2022-JP (RFC 1468). */
const JAPANESE = ["\u001b$B", "\u001b$@"];

/**
 * Decodes a document. The encoding is taken from the byte order mark, the server's header (`declared`) or the document's
 * own declaration, in this order; without any, ISO-2022-JP by its escapes, UTF-8 if the bytes are valid UTF-8 (also where
 * they are called Latin-1), else windows-1252, as in browsers.
 */
export function decodeText(bytes: Uint8Array, declared?: string): string {
  const named = encodingOfMark(bytes) ?? declared ?? encodingInside(bytes);
  const label = named && LATIN_1.test(named) ? undefined : named;
  if (label && UNREAD.test(label)) return UNREADABLE;
  const isJapanese = JAPANESE.some((mark) => Buffer.from(bytes).includes(mark));
  const read = (label && decode(bytes, label)) ?? (isJapanese ? decode(bytes, "iso-2022-jp", true) : undefined);
  return read ?? decode(bytes, "utf-8", true) ?? decode(bytes, "windows-1252") ?? "";
}

function encodingOfMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined;
}

/** A declaration that is readable as ASCII cannot be in UTF-16, even if it says so. */
function encodingInside(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString("latin1");
  const label = DECLARATION.exec(head)?.[1];
  return label && /^utf-?16/i.test(label) ? "utf-8" : label;
}

/** Undefined for an unknown encoding and, with `fatal`, for bytes that are invalid in it. */
function decode(bytes: Uint8Array, label: string, fatal = false): string | undefined {
  try {
    return new TextDecoder(label, { fatal }).decode(bytes);
  } catch {
    return undefined;
  }
}
