import type { Encode } from "./values.ts";

/** Control characters, and the separators of paths as they are and as they are escaped: some servers decode twice. */
const PATH_FORBIDDEN = /[\p{Cc}/\\]|%(?:2f|5c|2e|00)/iu;

/** A value within one segment of a path (RFC 3986, section 3.3). */
export const inPath: Encode = (text) =>
  PATH_FORBIDDEN.test(text)
    ? { fault: "it stands in a path: slashes, backslashes, control characters and their escapes are not allowed" }
    : { text: encodeURIComponent(text) };

/** A value of a query parameter (RFC 3986, section 3.4), or of a form's field. */
export const inQuery: Encode = (text) =>
  text.includes("\0") ? { fault: "it has a NUL in it" } : { text: encodeURIComponent(text) };

/** A value of a header (RFC 9110, section 5.5): visible ASCII and spaces within. */
export const inHeader: Encode = (text) =>
  /^[!-~](?:[ -~]*[!-~])?$/.test(text)
    ? { text }
    : { fault: "it stands in a header: only visible ASCII characters, and spaces between them, are allowed" };

/** A value within a text of a JSON body. */
export const asItIs: Encode = (text) => ({ text });

/** Whether a path has a segment that servers read as a way up or as nothing. */
export const isTreacherous = (segment: string): boolean => segment === "." || segment === "..";
