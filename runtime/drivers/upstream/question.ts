import type { UpstreamRequest } from "../../api/capabilities.ts";
import type { WireRequest } from "./transport.ts";

/** What is asked of an upstream. Two that are equal have one answer. */
export type Question = Omit<WireRequest, "signal">;

/** Where an upstream is, and what it is told with every request. */
export interface Address {
  readonly id: string;
  readonly url: URL;
  /** Credentials: no header of a request replaces them. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Some providers refuse who does not say what he is. */
const USER_AGENT = "payphone";

/**
 * A question to an upstream: a POST when it has a body, which is sent as JSON.
 * @param path below the upstream's URL; "" is the URL itself.
 * @throws RangeError for a path that leads somewhere else, or has a query of its own.
 */
export function toQuestion(
  { id, url, headers }: Address,
  { path, body }: { readonly path: string; readonly body?: unknown },
  request: UpstreamRequest,
): Question {
  const hasBody = body !== undefined;
  const own = { "user-agent": USER_AGENT, ...(hasBody && { "content-type": "application/json" }) };
  return {
    upstream: id,
    method: hasBody ? "POST" : "GET",
    url: toUrl(url, path, request.query),
    headers: toHeaders(own, request.headers, headers),
    ...(hasBody && { body: JSON.stringify(body) }),
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

/** The last one wins, however its name is written. */
const toHeaders = (...sets: readonly (Readonly<Record<string, string>> | undefined)[]): Record<string, string> =>
  Object.fromEntries(
    sets.flatMap((set = {}) => Object.entries(set).map(([name, value]) => [name.toLowerCase(), value] as const)),
  );
