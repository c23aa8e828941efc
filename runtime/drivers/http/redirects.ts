import type { HttpMethod } from "../../core/proxy/plan.ts";

/** One request of a chain of redirects. */
export interface Hop {
  readonly url: URL;
  readonly method: HttpMethod;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

/** How redirects are followed. `A` is the type of the HTTP client's answers. */
export interface RedirectTerms<A> {
  /** How many redirects are followed; a further redirect is returned as the answer. */
  readonly most: number;
  readonly send: (hop: Hop) => Promise<A>;
  readonly read: (answer: A) => { readonly status: number; readonly location: string | null };
  /** Releases an answer that is not read. */
  readonly discard: (answer: A) => Promise<unknown>;
  /** The URL to follow; undefined when the redirect itself is the answer. May throw. */
  readonly toUrl: (location: string, from: Hop) => URL | undefined;
  /** Whether a header may be sent to another origin than the first. */
  readonly mayCross: (header: string) => boolean;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Sends a request and follows its redirects (RFC 9110, section 15.4). @throws whatever `terms` throw. */
export async function followRedirects<A>(first: Hop, terms: RedirectTerms<A>): Promise<A> {
  let hop = first;
  for (let left = terms.most; ; left -= 1) {
    const answer = await terms.send(hop);
    const next = left > 0 ? toNextHop(hop, answer, terms) : undefined;
    if (!next) return answer;
    await terms.discard(answer);
    hop = next;
  }
}

/** Only 307 and 308 repeat a POST as a POST. */
function toNextHop<A>(hop: Hop, answer: A, { read, toUrl, mayCross }: RedirectTerms<A>): Hop | undefined {
  const { status, location } = read(answer);
  const url = REDIRECTS.has(status) && location !== null ? toUrl(location, hop) : undefined;
  if (!url) return undefined;
  const isRepeated = status > 303;
  const kept = Object.entries(hop.headers).filter(
    ([name]) => (isRepeated || name !== "content-type") && (url.origin === hop.url.origin || mayCross(name)),
  );
  const headers = Object.fromEntries(kept);
  return isRepeated ? { ...hop, url, headers } : { url, method: "GET", headers };
}
