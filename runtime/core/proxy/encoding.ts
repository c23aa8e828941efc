import type { Placeholder } from "./template.ts";

/** Encodes one value for its place, or says what is wrong with it. */
export type Encode = (text: string, place: Placeholder) => Encoded;

export type Encoded = { readonly text: string } | { readonly text?: undefined; readonly fault: string };

/** Control characters, and path separators, plain and percent-encoded: some servers decode twice. */
const PATH_FORBIDDEN = /[\p{Cc}/\\]|%(?:2f|5c|2e|00)/iu;

/** A value within one path segment (RFC 3986, section 3.3), or within several when its placeholder says so. */
export const inPath: Encode = (text, { slashes }) => {
  if (slashes === undefined)
    return PATH_FORBIDDEN.test(text)
      ? { fault: "it stands in a path: slashes, backslashes, control characters and their escapes are not allowed" }
      : { text: encodeURIComponent(text) };
  const parts = text.split("/");
  if (parts.some((part) => part === "" || isTreacherous(part) || PATH_FORBIDDEN.test(part)))
    return { fault: 'it is a path of names with one slash between them, none of them "." or "..", and no escapes' };
  return { text: parts.map(encodeURIComponent).join(slashes === "kept" ? "/" : "%2F") };
};

/** A value of a query parameter (RFC 3986, section 3.4) or of a form field. */
export const inQuery: Encode = (text) =>
  text.includes("\0") ? { fault: "it has a NUL in it" } : { text: encodeURIComponent(text) };

/** A value of a header (RFC 9110, section 5.5): visible ASCII, with spaces only inside. */
export const inHeader: Encode = (text) =>
  /^[!-~](?:[ -~]*[!-~])?$/.test(text)
    ? { text }
    : { fault: "it stands in a header: only visible ASCII characters, and spaces between them, are allowed" };

/** A value within XML (XML 1.0, sections 2.2 and 2.4): text or attribute. */
export const inXml: Encode = (text) =>
  /(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]/u.test(text)
    ? { fault: "it stands in XML: control characters, U+FFFE and U+FFFF are not allowed" }
    : { text: text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`) };

/** A value within a text of a JSON body. */
export const asItIs: Encode = (text) => ({ text });

/** Whether servers may treat a segment as `.` or `..`; some ignore what follows a semicolon. */
export const isTreacherous = (segment: string): boolean => /^\.{1,2}(?:(?:;|%3b).*)?$/is.test(segment);
