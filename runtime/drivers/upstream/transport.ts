import { type Duplex, pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Agent, Dispatcher } from "undici";

/** One request as it goes out: everything that the upstream's driver decides is decided. */
export interface WireRequest {
  /** The upstream's id. */
  readonly upstream: string;
  readonly method: "GET" | "POST";
  readonly url: URL;
  /** By lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** One answer, its body decompressed and unread. Whoever takes it reads the body or leaves its loop, which releases the connection. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Carries one request to an upstream, once. A Problem that it throws is a verdict; any other error means that nothing
 * usable came, and may pass.
 */
export type Transport = (request: WireRequest) => Promise<WireAnswer>;

/** A transport with connections, which must be closed. */
export interface HttpTransport {
  readonly send: Transport;
  /** Breaks off what is still being sent. */
  close(): Promise<void>;
}

const CONNECTIONS = 32;
const CONNECT_MS = 3000;
const KEEP_ALIVE_MS = 30_000;
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** What may be said to an origin that a redirect has named: all other headers may be credentials. */
const HARMLESS: ReadonlySet<string> = new Set(["accept", "accept-encoding", "user-agent"]);

/**
 * HTTP/1.1 on one pool of kept-alive connections for each origin. Redirects of a GET are followed, at most three, never
 * from https to http, and without credentials to another origin. undici is loaded on the first use.
 */
export function createHttpTransport(): HttpTransport {
  let opened: Promise<Agent> | undefined;

  return {
    async send(request) {
      opened ??= openAgent();
      const agent = await opened;
      let hop: WireRequest = { ...request, headers: { "accept-encoding": "gzip, deflate, br", ...request.headers } };
      for (let left = MAX_REDIRECTS; ; left -= 1) {
        const response = await sendOnce(agent, hop);
        const next = left > 0 ? toNextHop(hop, response) : undefined;
        if (!next) return toAnswer(response);
        await response.body.dump();
        hop = next;
      }
    },
    close: async () => (await opened)?.destroy(),
  };
}

async function openAgent(): Promise<Agent> {
  const { Agent } = await import("undici");
  return new Agent({
    connections: CONNECTIONS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: CONNECT_MS },
  });
}

function sendOnce(agent: Agent, { method, url, headers, body, signal }: WireRequest): Promise<Dispatcher.ResponseData> {
  const sent = body === undefined ? {} : { body };
  return agent.request({ origin: url.origin, path: url.pathname + url.search, method, headers, signal, ...sent });
}

/** The request that a redirect (RFC 9110, section 15.4) asks for; undefined when there is none that may be followed. */
function toNextHop(hop: WireRequest, { statusCode, headers }: Dispatcher.ResponseData): WireRequest | undefined {
  const { location } = headers;
  if (hop.method !== "GET" || !REDIRECTS.has(statusCode) || typeof location !== "string") return undefined;
  const url = URL.parse(location, hop.url.href);
  if (!url || (url.protocol !== "https:" && url.protocol !== hop.url.protocol)) return undefined;
  if (url.origin === hop.url.origin) return { ...hop, url };
  const kept = Object.entries(hop.headers).filter(([name]) => HARMLESS.has(name));
  return { ...hop, url, headers: Object.fromEntries(kept) };
}

function toAnswer({ statusCode, headers, body }: Dispatcher.ResponseData): WireAnswer {
  const get = (name: string): string | null => {
    const value = headers[name.toLowerCase()];
    return value === undefined ? null : String(value);
  };
  const isEmpty = get("content-length") === "0"; // which no decoder takes for the end of its input
  return { status: statusCode, headers: { get }, body: isEmpty ? body : decompress(body, get("content-encoding")) };
}

const DECODERS: Readonly<Record<string, () => Duplex>> = {
  br: createBrotliDecompress,
  deflate: createInflate,
  gzip: createGunzip,
  "x-gzip": createGunzip,
};

/** Decompressed while it is read, so that a reader who stops is never given more than a chunk too much. */
function decompress(body: Readable, encoding: string | null): Readable {
  const decoder = DECODERS[encoding?.trim().toLowerCase() ?? ""]?.();
  return decoder ? pipeline(body, decoder, () => {}) : body; // The reader meets every failure in the last stream.
}
