import type { Agent, Dispatcher } from "undici";
import type { HttpMethod } from "../../core/proxy/plan.ts";

/** One request of a chain of redirects. */
export interface Hop {
  readonly url: URL;
  readonly method: HttpMethod;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

/** An answer of undici, whose body is not read yet. */
export type RawAnswer = Dispatcher.ResponseData;

/** How redirects are followed. */
export interface RedirectTerms {
  /** How many redirects are followed; a further redirect is returned as the answer. */
  readonly most: number;
  readonly send: (hop: Hop) => Promise<RawAnswer>;
  /** Releases an answer that is not read. */
  readonly discard: (answer: RawAnswer) => Promise<unknown>;
  /** The URL to follow; undefined when the redirect itself is the answer. May throw. */
  readonly toUrl: (location: string, from: Hop) => URL | undefined;
  /** Whether a header may be sent to another origin than the first. */
  readonly mayCross: (header: string) => boolean;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Sends a request and follows its redirects (RFC 9110, section 15.4). @throws whatever `terms` throw. */
export async function followRedirects(first: Hop, terms: RedirectTerms): Promise<RawAnswer> {
  let hop = first;
  for (let left = terms.most; ; left -= 1) {
    const answer = await terms.send(hop);
    const next = left > 0 ? toNextHop(hop, answer, terms) : undefined;
    if (!next) return answer;
    await terms.discard(answer);
    hop = next;
  }
}

/** Sends a request, and leaves its redirects to `followRedirects`. */
export function sendOnce(agent: Agent, { url, method, headers, body }: Hop, signal: AbortSignal): Promise<RawAnswer> {
  const { origin, pathname, search } = url;
  return agent.request({ origin, path: pathname + search, method, headers, body: body ?? null, signal });
}

/** Only 307 and 308 repeat a POST as a POST. */
function toNextHop(hop: Hop, { statusCode, headers: { location } }: RawAnswer, terms: RedirectTerms): Hop | undefined {
  const url = REDIRECTS.has(statusCode) && typeof location === "string" ? terms.toUrl(location, hop) : undefined;
  if (!url) return undefined;
  const isRepeated = statusCode > 303;
  const kept = Object.entries(hop.headers).filter(
    ([name]) => (isRepeated || name !== "content-type") && (url.origin === hop.url.origin || terms.mayCross(name)),
  );
  const headers = Object.fromEntries(kept);
  return isRepeated ? { ...hop, url, headers } : { url, method: "GET", headers };
}
