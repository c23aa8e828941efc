import { lookup as resolveName } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { Agent } from "undici";
import type { Web, WebAnswer } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { once } from "../../core/once.ts";
import { BAD_PORTS } from "./bad-ports.ts";
import { readBounded } from "./bounded-body.ts";
import { isConnectionBroken } from "./broken-connection.ts";
import { decompressed } from "./decompress.ts";
import { isPublicAddress } from "./public-address.ts";
import { followRedirects, type Hop, type RawAnswer, sendOnce } from "./redirects.ts";
import { withResets } from "./resets.ts";
import { repeat } from "./retry.ts";

/** The capability `web`, with open connections, which must be closed. */
export interface GuardedFetch extends Web {
  close(): Promise<void>;
}

export interface GuardedFetchOptions {
  /** Resolves names; the system's resolver by default. */
  readonly lookup?: LookupFunction;
  /** Which addresses may be connected to; public ones by default. */
  readonly isAllowed?: (address: string) => boolean;
}

const CONNECT_MS = 3000;
const FORBIDDEN = "ERR_ADDRESS_NOT_PUBLIC";
/** Headers that are not sent to another origin (Fetch Standard, section 4.4). */
const SECRETS: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"]);
/** The default headers of a request. */
const USUAL = { accept: "*/*", "accept-encoding": "gzip, br", "user-agent": "payphone" };

/** A kept connection may break because its server was just closing it. */
const AT_ONCE = { retries: 1, delayMs: 0 };

/**
 * Fetches from public addresses only. A name is resolved once, and the connection uses the checked addresses, all of
 * which must be public: DNS rebinding has no effect. Every redirect is checked like the first URL. undici is loaded on
 * first use.
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const { lookup = resolveName, isAllowed = isPublicAddress } = options;
  const opened = once(() => openAgent(lookup, isAllowed));
  let agent: Agent | undefined;

  return {
    async fetch(url, { method = "GET", headers = {}, body, redirects = 0, timeoutMs, maxBytes, signal }) {
      const late = AbortSignal.timeout(timeoutMs);
      const ended = signal ? AbortSignal.any([signal, late]) : late;
      const own = Object.fromEntries(new Headers(headers));
      const first: Hop = { url: toTarget(url), method, headers: { ...USUAL, ...own }, body };
      let hop = first; // For errors, which name its host.
      const open = await opened();
      agent = open;
      const send = (next: Hop): Promise<RawAnswer> => {
        hop = next;
        const ask = (): Promise<RawAnswer> => sendOnce(open, next, ended);
        return next.method === "GET" ? repeat(ask, isConnectionBroken, AT_ONCE) : ask();
      };
      try {
        return await toAnswer(await followRedirects(first, { most: redirects, send, ...REDIRECTED }), hop, maxBytes);
      } catch (error) {
        signal?.throwIfAborted();
        throw error instanceof Problem ? error : toProblem(hop, error);
      }
    },
    close: async () => agent?.close(),
  };
}

const REDIRECTED = {
  discard: async ({ body }: RawAnswer) => body.on("error", () => {}).destroy(), // An unread body emits an error when it is destroyed.
  toUrl: (location: string, { url }: Hop) => toTarget(location, url),
  mayCross: (header: string) => !SECRETS.has(header),
};

/** @throws Problem `bad-request` for another scheme, and for credentials in the URL. */
function toTarget(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw new Problem("bad-request", "Only http and https URLs without a user name are fetched, also after a redirect");
  if (BAD_PORTS.has(url.port))
    throw new Problem("bad-request", `${url.host} is on a port that the Fetch Standard keeps for other protocols`);
  return url;
}

/** The limit counts decompressed bytes. */
async function toAnswer(raw: RawAnswer, { url }: Hop, maxBytes: number): Promise<WebAnswer> {
  const { status, headers, body } = decompressed(raw);
  return { status, url: url.href, headers, body: await readBounded(body, url.host, maxBytes) };
}

async function openAgent(lookup: LookupFunction, isAllowed: (address: string) => boolean): Promise<Agent> {
  const { Agent, buildConnector } = await import("undici");
  const connect = withResets(buildConnector({ timeout: CONNECT_MS, lookup: toGuardedLookup(lookup, isAllowed) }));
  return new Agent({
    connect(target, callback) {
      const host = target.hostname.replace(/^\[|\]$/g, "");
      if (isIP(host) !== 0 && !isAllowed(host)) return callback(toForbidden(host), null); // An IP address needs no look-up, which would check it.
      connect(target, callback);
    },
  });
}

function toGuardedLookup(lookup: LookupFunction, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, found, family) => {
      if (error) return callback(error, []);
      const addresses = Array.isArray(found) ? found : [{ address: found, family: family ?? isIP(found) }];
      const wrong = addresses.find(({ address }) => !isAllowed(address));
      const [first] = addresses;
      if (wrong || !first) return callback(toForbidden(wrong?.address ?? "none"), []);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
}

const toForbidden = (address: string): Error =>
  Object.assign(new Error(`${address} is no public address`), { code: FORBIDDEN });

/** Makes a Problem that does not repeat the server's own words. */
function toProblem({ url: { host, hostname } }: Hop, error: unknown): Problem {
  const { name, code } = error as NodeJS.ErrnoException;
  if (code === FORBIDDEN) {
    const isAddress = isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
    const why = isAddress ? "is not a public address" : "leads to an address that is not public";
    return new Problem("bad-request", `${hostname} ${why}; only public addresses are fetched`, { cause: error });
  }
  const what = name === "TimeoutError" ? "did not answer in time" : `cannot be fetched (${code ?? name})`;
  return new Problem("upstream-failed", `${host} ${what}`, { cause: error });
}
