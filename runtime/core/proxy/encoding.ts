import type { Placeholder } from "./template.ts";

/** Makes one value fit its place, or says what is wrong with it. */
export type Encode = (
  text: string,
  place: Placeholder,
) => { readonly text: string; readonly fault?: undefined } | { readonly fault: string };

/** Control characters, and the separators of paths as they are and as they are escaped: some servers decode twice. */
const PATH_FORBIDDEN = /[\p{Cc}/\\]|%(?:2f|5c|2e|00)/iu;

/** A value within one segment of a path (RFC 3986, section 3.3); within several where its placeholder says so. */
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

/** A value of a query parameter (RFC 3986, section 3.4), or of a form's field. */
export const inQuery: Encode = (text) =>
  text.includes("\0") ? { fault: "it has a NUL in it" } : { text: encodeURIComponent(text) };

/** A value of a header (RFC 9110, section 5.5): visible ASCII and spaces within. */
export const inHeader: Encode = (text) =>
  /^[!-~](?:[ -~]*[!-~])?$/.test(text)
    ? { text }
    : { fault: "it stands in a header: only visible ASCII characters, and spaces between them, are allowed" };

/** A value within XML (XML 1.0, sections 2.2 and 2.4): text, or within an attribute's quotes. */
export const inXml: Encode = (text) =>
  /(?![\t\n\r])\p{Cc}/u.test(text)
    ? { fault: "it stands in XML: control characters are not allowed" }
    : { text: text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`) };

/** A value within a text of a JSON body. */
export const asItIs: Encode = (text) => ({ text });

/** Whether servers read a segment as a way up or as nothing, some of them without what follows a semicolon. */
export const isTreacherous = (segment: string): boolean => /^\.{1,2}(?:(?:;|%3b).*)?$/is.test(segment);
