import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import type { Transport, WireAnswer, WireRequest } from "../../drivers/upstream/transport.ts";
import { toRecordedAnswer } from "./answer.ts";
import { describeBody } from "./body.ts";
import { fits, isRpcCall, type SentRequest, toLabel, toPathBelow } from "./match.ts";
import { isAnswering, type RecordedExchange, type Recording } from "./recordings.ts";

export interface RecordedTransportOptions {
  /** The first matching exchange of the first recording answers. */
  readonly recordings: readonly Recording[];
  /** URLs to which recorded paths are relative, by upstream id. */
  readonly baseUrls: ReadonlyMap<string, string>;
  /** Names of the upstreams in errors, by upstream id. */
  readonly titles: ReadonlyMap<string, string>;
  /** What to do about a missing recording, as an imperative; part of the error message. */
  readonly remedy: string;
  /** Called when no exchange matches. Returns undefined when the upstream has only recordings. */
  readonly fallback?: (request: WireRequest) => Promise<WireAnswer> | undefined;
}

/** A transport that answers from recordings; it throws Problem `upstream-failed` when nothing matches. */
export function createRecordedTransport(options: RecordedTransportOptions): Transport {
  const { recordings, baseUrls, titles, remedy, fallback } = options;
  const exchanges = Map.groupBy(recordings.flatMap(toAnswering), ({ upstream }) => upstream);

  return async (request) => {
    const { upstream, signal } = request;
    const sent = await toSentRequest(request, baseUrls.get(upstream));
    const found = exchanges.get(upstream)?.find(({ exchange }) => fits(exchange.request, sent));
    if (found) return play(found.exchange, sent, signal);
    const answer = fallback?.(request);
    if (answer) return answer;
    throw toMiss(titles.get(upstream) ?? upstream, sent, remedy);
  };
}

/** A `fetch` that sends every request to one upstream through a transport. */
export function toRecordedFetch(upstream: string, transport: Transport): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { status, headers, body } = await transport({
      upstream,
      method: request.method === "POST" ? "POST" : "GET",
      url: new URL(request.url),
      headers: Object.fromEntries(request.headers),
      body: await request.text(),
      signal: request.signal,
    });
    const type = headers.get("content-type") ?? "application/octet-stream";
    return new Response(ReadableStream.from(body), { status, headers: { "content-type": type } });
  };
}

const toAnswering = ({ upstream, exchanges }: Recording): { upstream: string; exchange: RecordedExchange }[] =>
  exchanges.filter(isAnswering).map((exchange) => ({ upstream, exchange }));

async function toSentRequest(request: WireRequest, baseUrl: string | undefined): Promise<SentRequest> {
  const { method, url } = request;
  const path = baseUrl === undefined ? undefined : toPathBelow(url, baseUrl);
  return { method, path: path ?? url.pathname, body: (await describeBody(request)).body };
}

async function play(exchange: RecordedExchange, { body: call }: SentRequest, signal: AbortSignal): Promise<WireAnswer> {
  const { status, headers, body, delayMs } = toRecordedAnswer(exchange, isRpcCall(call) ? call.id : null);
  if (delayMs > 0) await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  return { status, headers: new Headers(headers), body: ReadableStream.from([body]) };
}

function toMiss(title: string, { method, path, body }: SentRequest, remedy: string): Problem {
  const asked = toLabel(isRpcCall(body) ? { rpc: { method: String(body.method), params: [] } } : { method, path });
  return new Problem(
    "upstream-failed",
    `The sandbox works offline and has no recording of ${title} for ${asked}: it answers the manifests' ` +
      `examples, once they are recorded (payphone record --new <service>). For any other input, ${remedy}.`,
  );
}
