import { text } from "node:stream/consumers";
import type { Transport, WireRequest } from "../../../runtime/drivers/upstream/transport.ts";
import type {
  RecordedExchange,
  RecordedRequest,
  RecordedResponse,
  Recording,
} from "../../../runtime/sandbox/recordings/recordings.ts";
import { createRecordedTransport } from "../../../runtime/sandbox/recordings/transport.ts";

/** Where the recorded upstreams are. */
export const GECKO = "https://api.coingecko.test/api/v3";
export const NODE = "https://node.test/v2/project?tier=free";
export const baseUrls = new Map([
  ["coingecko", GECKO],
  ["base", NODE],
]);
export const remedy = "ask somebody else";
export const titles = new Map([
  ["coingecko", "CoinGecko"],
  ["base", "Base node"],
]);

/** An exchange with a name of its case. */
export const toExchange = (
  request: RecordedRequest,
  response: RecordedResponse,
  name = "success",
): RecordedExchange => ({
  case: name,
  request,
  response,
});

/** A GET, as it is recorded. */
export const get = (path: string): RecordedRequest => ({ method: "GET", path });
/** A call of a node, as it is recorded. */
export const rpc = (method: string, ...params: unknown[]): RecordedRequest => ({ rpc: { method, params } });

/** A file of recordings. */
export function toRecording(upstream: string, exchanges: readonly RecordedExchange[]): Recording {
  return { file: `plugins/p/recordings/${upstream}/a.json`, upstream, source: "a test", exchanges };
}

/** A transport of one upstream's recordings. */
export function open(upstream: string, ...exchanges: readonly RecordedExchange[]): Transport {
  return createRecordedTransport({ recordings: [toRecording(upstream, exchanges)], baseUrls, titles, remedy });
}

/** A request, as a driver makes it. */
export function toRequest(url: string, more: Partial<WireRequest> = {}): WireRequest {
  return {
    upstream: "coingecko",
    method: "GET",
    url: new URL(url),
    headers: {},
    signal: AbortSignal.timeout(10_000),
    ...more,
  };
}

/** A POST with a body of JSON. */
export const post = (url: string, body: unknown, upstream = "coingecko"): WireRequest =>
  toRequest(url, { upstream, method: "POST", body: JSON.stringify(body) });

/** A call of the node. */
export const call = (method: string, params: unknown, id: unknown = 1): WireRequest =>
  post(NODE, { jsonrpc: "2.0", id, method, params }, "base");

/** The body of an answer. */
export const ask = async (transport: Transport, request: WireRequest): Promise<string> =>
  text((await transport(request)).body as AsyncIterable<Buffer>);
