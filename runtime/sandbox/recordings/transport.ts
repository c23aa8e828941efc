import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import type { Transport, WireAnswer, WireRequest } from "../../drivers/upstream/transport.ts";
import { toAnswer } from "./answer.ts";
import { fits, isRpcCall, type Question, toLabel, toPathBelow } from "./match.ts";
import { type Exchange, isAnswering, type Recording } from "./recordings.ts";

export interface RecordedTransportOptions {
  /** Of several exchanges that fit, the first one of the first recording answers. */
  readonly recordings: readonly Recording[];
  /** By the upstreams' ids: the URLs below which recorded paths begin … */
  readonly baseUrls: ReadonlyMap<string, string>;
  /** … and what errors call the upstreams. */
  readonly titles: ReadonlyMap<string, string>;
  /** What errors tell a person to do about a missing recording: an imperative. */
  readonly remedy: string;
  /** Asked where no exchange fits; answers undefined for an upstream that has nothing but recordings. */
  readonly fallback?: (request: WireRequest) => Promise<WireAnswer> | undefined;
}

/** Answers requests to upstreams from their recordings. The transport throws Problem `upstream-failed` where nothing fits. */
export function createRecordedTransport(options: RecordedTransportOptions): Transport {
  const { recordings, baseUrls, titles, remedy, fallback } = options;
  const exchanges = Map.groupBy(recordings.flatMap(toAnswering), ({ upstream }) => upstream);

  return async (request) => {
    const { upstream, signal } = request;
    const question = toQuestion(request, baseUrls.get(upstream));
    const found = exchanges.get(upstream)?.find(({ exchange }) => fits(exchange.request, question));
    if (found) return play(found.exchange, question, signal);
    const answer = fallback?.(request);
    if (answer) return answer;
    throw toMiss(titles.get(upstream) ?? upstream, question, remedy);
  };
}

/** A fetch that sends everything to one upstream: for a client that has a transport of its own. */
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

const toAnswering = ({ upstream, exchanges }: Recording): { upstream: string; exchange: Exchange }[] =>
  exchanges.filter(isAnswering).map((exchange) => ({ upstream, exchange }));

function toQuestion({ method, url, body }: WireRequest, baseUrl: string | undefined): Question {
  const path = baseUrl === undefined ? undefined : toPathBelow(url, baseUrl);
  return { method, path: path ?? url.pathname, body: parse(body) };
}

function parse(body: string | undefined): unknown {
  try {
    return body ? JSON.parse(body) : undefined;
  } catch {
    return body;
  }
}

async function play(exchange: Exchange, { body: call }: Question, signal: AbortSignal): Promise<WireAnswer> {
  const { status, headers, body, delayMs } = toAnswer(exchange, isRpcCall(call) ? call.id : null);
  if (delayMs > 0) await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  return { status, headers: new Headers(headers), body: ReadableStream.from([body]) };
}

function toMiss(title: string, { method, path, body }: Question, remedy: string): Problem {
  const asked = toLabel(isRpcCall(body) ? { rpc: { method: String(body.method), params: [] } } : { method, path });
  return new Problem(
    "upstream-failed",
    `The sandbox works offline and has no recording of ${title} for ${asked}: it answers the inputs of the manifests' ` +
      `examples. For any other input, ${remedy}.`,
  );
}
