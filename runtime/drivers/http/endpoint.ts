import { unescape as unescapePercent } from "node:querystring";

/**
 * Splits a URL for fetch, which refuses credentials in it: they become a basic authorization header.
 * @throws RangeError that does not repeat the URL.
 */
export function toEndpoint(text: string): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } {
  const url = URL.parse(text);
  if (!url) throw new RangeError("The URL of a node or a source is no URL");
  // Unlike `decodeURIComponent`, it takes a percent sign that escapes nothing.
  const [name, password] = [url.username, url.password].map(unescapePercent);
  url.username = url.password = "";
  if (!name && !password) return { url, headers: {} };
  return { url, headers: { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}` } };
}
