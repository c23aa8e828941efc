import type { Web } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { ANSWER_BYTES } from "../../core/proxy/answer.ts";
import { messageOf } from "../../core/proxy/message.ts";
import type { ProxyRequest } from "../../core/proxy/request.ts";
import { isCharged, isKeyRefusal, toStatusProblem } from "../../core/proxy/verdict.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import type { BytesAnswer } from "../upstream/attempt.ts";
import type { LiveUpstream } from "../upstream/upstream.ts";

/** Sends a request to a source; returns an answer that is charged. @throws Problem for every other answer. */
export type Ask = (request: ProxyRequest, signal: AbortSignal) => Promise<BytesAnswer>;

export interface AskTerms {
  readonly maxBytes: number;
  /** The statuses that are charged; every 2xx by default. */
  readonly chargeOn: readonly number[] | undefined;
  /** Whether the request may be repeated, whatever its method. */
  readonly isIdempotent: boolean;
  /** The `Accept` header, unless the manifest sets one. */
  readonly accept: string;
}

export const termsOf = ({ proxy, media, hints }: Manifest): AskTerms => ({
  maxBytes: media?.max_bytes ?? proxy?.answer?.max_bytes ?? ANSWER_BYTES,
  chargeOn: proxy?.charge_on,
  isIdempotent: hints?.idempotent === true,
  accept: media?.type ?? "application/json",
});

/** Asks an upstream of the site, with its credential. */
export function createUpstreamAsk(upstream: LiveUpstream, terms: AskTerms): Ask {
  const { maxBytes, chargeOn, isIdempotent, accept } = terms;
  return async ({ method, target: path, query, headers, body }, signal) => {
    const isRepeatable = method === "GET" || isIdempotent;
    const request = { method, path, query, headers: { accept, ...headers }, body };
    const answer = await upstream.send(request, { signal, maxBytes, isRepeatable });
    upstream.noteRefusal(isKeyRefusal(answer.status) ? answer.status : undefined);
    if (isCharged(answer.status, chargeOn)) return answer;
    const location = /^3/.test(String(answer.status)) ? answer.headers.get("location") : undefined;
    const place = location?.split(/[?#]/)[0]; // The rest may hold a key.
    throw toStatusProblem(upstream.title, answer.status, toMessage(answer), place);
  };
}

/**
 * Adds an `Idempotency-Key` to a request that may do something, unless the manifest sets one: an upstream that knows this
 * header does the work once, however often the request is sent.
 * @param order the same for each attempt of one call
 */
export const keyed = (request: ProxyRequest, order: string): ProxyRequest =>
  request.method === "GET" ? request : { ...request, headers: { "idempotency-key": order, ...request.headers } };

/** The timeout, from the DNS look-up to the last byte. */
const FOREIGN_MS = 15_000;
const REDIRECTS = 3;

/** Sends requests to public URLs that callers choose, without any credential. */
export function createForeignAsk(web: Web, { maxBytes, chargeOn, accept }: AskTerms): Ask {
  return async ({ method, target, headers, body }, signal) => {
    const answer = await web.fetch(target, {
      method: method === "POST" ? "POST" : "GET",
      headers: { accept, ...(body && { "content-type": body.type }), ...headers },
      ...(body && { body: String(body.content) }), // The check allows texts only.
      redirects: REDIRECTS,
      timeoutMs: FOREIGN_MS,
      maxBytes,
      signal,
    });
    if (isCharged(answer.status, chargeOn)) return answer;
    throw toForeignProblem(toStatusProblem(new URL(answer.url).host, answer.status, toMessage(answer)));
  };
}

/** No credential was sent, so a refused credential is the source's failure. */
const toForeignProblem = (problem: Problem): Problem =>
  problem.code === "internal" ? new Problem("upstream-failed", (problem.options.cause as Error).message) : problem;

const toMessage = ({ headers, body }: BytesAnswer): string | undefined =>
  messageOf(headers.get("content-type"), body.toString());

/** The Problem of an answer that does not fit the service. @param cause for the log */
export const toMisfit = (title: string, cause: unknown): Problem =>
  new Problem("upstream-failed", `${title}'s answer does not fit this service`, { cause });
