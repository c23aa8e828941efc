import { Problem } from "../../api/problem.ts";

/** One request of a chain of redirects. */
export interface Hop {
  readonly target: URL;
  readonly method: "GET" | "POST";
  readonly headers: Headers;
  readonly body: string | undefined;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** What is said to one origin alone (Fetch Standard, 4.4). */
const SECRETS = ["authorization", "cookie", "proxy-authorization"];

/**
 * What may be asked for at all; which addresses it leads to is found out when they are connected to.
 * @throws Problem `bad-request`.
 */
export function toTarget(url: string, base?: URL): URL {
  const target = URL.parse(url, base?.href);
  if (!target || !/^https?:$/.test(target.protocol) || target.username !== "" || target.password !== "")
    throw new Problem("bad-request", "Only http and https URLs without a user name are fetched, also after a redirect");
  return target;
}

/**
 * The request that an answer asks for instead (RFC 9110, section 15.4); undefined when it is no redirect. A POST that is
 * redirected by any status but 307 and 308 becomes a GET, and what was meant for one origin is not told to another.
 * @throws Problem `bad-request`.
 */
export function toNextHop(
  { target, method, headers, body }: Hop,
  status: number,
  location: string | null,
): Hop | undefined {
  if (!REDIRECTS.has(status) || location === null) return undefined;
  const next = toTarget(location, target);
  const kept = new Headers(headers);
  if (next.origin !== target.origin) for (const name of SECRETS) kept.delete(name);
  if (status > 303) return { target: next, method, headers: kept, body };
  kept.delete("content-type");
  return { target: next, method: "GET", headers: kept, body: undefined };
}
