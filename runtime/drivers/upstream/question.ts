import type { UpstreamRequest } from "../../api/capabilities.ts";
import type { HttpMethod } from "../../core/proxy/plan.ts";
import type { WireRequest } from "./transport.ts";

/** A request to an upstream. Equal requests have equal answers. */
export type Question = Omit<WireRequest, "signal">;

/** An upstream's URL, and the headers of every request. */
export interface Address {
  readonly id: string;
  readonly url: URL;
  /** Credentials, which a request's headers cannot replace. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request that is sent unchanged. */
export interface PlainRequest {
  readonly method: HttpMethod;
  /** The encoded path below the upstream's URL, with a leading slash. */
  readonly path: string;
  /** Encoded, without the question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: { readonly type: string; readonly content: string | Uint8Array } | undefined;
}

/** Some providers refuse requests without it. */
const USER_AGENT = "payphone";
/** RFC 9110, section 5: a header's name is a token, and its value has no control characters. */
const HEADER = /^[!#$%&'*+.^_`|~\w-]+: [\t\x20-\x7e\x80-\xff]*$/;

/**
 * Makes a request: a POST with a JSON body when there is a body.
 * @param path below the upstream's URL; "" is the URL itself.
 * @throws RangeError for a path with dot segments, a query or a fragment; TypeError for a header that cannot be sent.
 */
export function toQuestion(
  { id, url, headers }: Address,
  { path, body }: { readonly path: string; readonly body?: unknown },
  request: UpstreamRequest,
): Question {
  const hasBody = body !== undefined;
  checkHeaders(request.headers);
  const own = { "user-agent": USER_AGENT, ...(hasBody && { "content-type": "application/json" }) };
  return {
    upstream: id,
    method: hasBody ? "POST" : "GET",
    url: toUrl(url, path, request.query),
    headers: toHeaders(own, request.headers, headers),
    ...(hasBody && { body: JSON.stringify(body) }),
  };
}

/** Makes a request whose redirects stay within the upstream's origin. @throws RangeError for a path that leaves it. */
export function toPlainQuestion({ id, url, headers }: Address, request: PlainRequest): Question {
  const { method, path, query, body } = request;
  const own = { "user-agent": USER_AGENT, ...(body && { "content-type": body.type }) };
  const target = toUrl(url, path);
  target.search = [target.search.slice(1), query].filter(Boolean).join("&");
  return {
    upstream: id,
    method,
    url: target,
    headers: toHeaders(own, request.headers, headers),
    ...(body && { body: body.content }),
    stays: true,
  };
}

function toUrl(base: URL, path: string, query: UpstreamRequest["query"] = {}): URL {
  const url = new URL(base);
  const wanted = path === "" ? url.pathname : `${url.pathname.replace(/\/$/, "")}/${path.replace(/^\//, "")}`;
  url.pathname = wanted;
  if (/[?#\\]/.test(path) || url.pathname.split("/").length !== wanted.split("/").length)
    throw new RangeError("a path below an upstream has no dot segments, no backslashes, no query and no fragment");
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

/** A plugin may send what callers choose: then it is no failure of the upstream. */
function checkHeaders(headers: UpstreamRequest["headers"] = {}): void {
  for (const [name, value] of Object.entries(headers))
    if (!HEADER.test(`${name}: ${value}`))
      throw new TypeError(`no request can have the header ${name}: it takes Latin-1 text without line breaks`);
}

/** Merges headers; names are case-insensitive, and the last set wins. */
const toHeaders = (...sets: readonly (Readonly<Record<string, string>> | undefined)[]): Record<string, string> =>
  Object.fromEntries(
    sets.flatMap((set = {}) => Object.entries(set).map(([name, value]) => [name.toLowerCase(), value] as const)),
  );
