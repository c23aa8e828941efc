import type { Agent } from "undici";
import type { HttpMethod } from "../../core/proxy/plan.ts";
import { decompressed } from "../http/decompress.ts";
import { followRedirects, type Hop, type RawAnswer, sendOnce } from "../http/redirects.ts";
import { withResets } from "../http/resets.ts";

/** One HTTP request to an upstream. */
export interface WireRequest {
  /** The upstream's id. */
  readonly upstream: string;
  readonly method: HttpMethod;
  readonly url: URL;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Whether only redirects within the same origin are followed. */
  readonly stays?: boolean;
  /** Whether it must not be repeated: it gets a connection that the upstream is unlikely to be closing. */
  readonly isSentOnce?: boolean;
  readonly signal: AbortSignal;
}

/** An answer with its decompressed, unread body. Reading the body or leaving the loop releases the connection. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends a request once. A thrown Problem is final; any other error means that no answer came, and may be transient. */
export type Transport = (request: WireRequest) => Promise<WireAnswer>;

/** A transport with open connections, which must be closed. */
export interface HttpTransport {
  readonly send: Transport;
  /** Aborts the running requests. */
  close(): Promise<void>;
}

/** For one origin. Further requests wait for one, and their timeout goes on. */
const CONNECTIONS = 512;
const CONNECT_MS = 3000;
const KEEP_ALIVE_MS = 30_000;
/** For `isSentOnce`: some servers close connections after two idle seconds without announcing it. */
const SENT_ONCE_KEEP_ALIVE_MS = 1000;
const MAX_REDIRECTS = 3;
/** The headers that are sent to another origin; all others may be credentials. */
const HARMLESS: ReadonlySet<string> = new Set(["accept", "accept-encoding", "user-agent"]);

/**
 * HTTP/1.1 with a pool of kept-alive connections per origin, and another one for requests that are sent once. Redirects
 * of a GET are followed, at most three, never from https to http, and without credentials to another origin. undici is
 * loaded on first use.
 */
export function createHttpTransport(): HttpTransport {
  const opened = new Map<number, Promise<Agent>>();

  return {
    async send(request) {
      const { method, url, body, stays = false, isSentOnce = false, signal } = request;
      const agent = await open(isSentOnce ? SENT_ONCE_KEEP_ALIVE_MS : KEEP_ALIVE_MS);
      const headers = { "accept-encoding": "gzip, br", ...request.headers };
      const send = (hop: Hop): Promise<RawAnswer> => sendOnce(agent, hop, signal);
      const toUrl = (location: string, from: Hop): URL | undefined => {
        const next = toNext(location, from);
        return stays && next?.origin !== url.origin ? undefined : next;
      };
      return decompressed(await followRedirects({ method, url, headers, body }, { ...REDIRECTED, send, toUrl }));
    },
    async close() {
      await Promise.all([...opened.values()].map(async (agent) => (await agent).destroy()));
    },
  };

  function open(keepAliveMs: number): Promise<Agent> {
    const known = opened.get(keepAliveMs);
    if (known) return known;
    const agent = openAgent(keepAliveMs);
    agent.catch(() => opened.delete(keepAliveMs));
    opened.set(keepAliveMs, agent);
    return agent;
  }
}

/** @param keepAliveMs for how long an idle connection is kept, at most where the server names a time */
async function openAgent(keepAliveMs: number): Promise<Agent> {
  const { Agent, buildConnector } = await import("undici");
  return new Agent({
    connections: CONNECTIONS,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    connect: withResets(buildConnector({ timeout: CONNECT_MS })),
  });
}

const REDIRECTED = {
  most: MAX_REDIRECTS,
  discard: ({ body }: RawAnswer) => body.dump(),
  mayCross: (header: string) => HARMLESS.has(header),
};

function toNext(location: string, { method, url: from }: Hop): URL | undefined {
  const url = method === "GET" ? URL.parse(location, from.href) : null;
  return url && (url.protocol === "https:" || url.protocol === from.protocol) ? url : undefined;
}
