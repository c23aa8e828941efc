/** Request headers by lower-cased name, as node:http has them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One header's text without surrounding white space; undefined when the header is missing. */
export function readHeader(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return value === undefined ? undefined : String(value).trim();
}

/** Whether `Content-Type` says that a body is JSON. */
export const isJsonBody = (headers: RequestHeaders): boolean =>
  /^application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i.test(readHeader(headers, "content-type") ?? "");
