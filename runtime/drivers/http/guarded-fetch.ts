import { lookup as resolveName } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { Agent, Response } from "undici";
import type { Web, WebAnswer } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { readBounded } from "./bounded-body.ts";
import { isPublicAddress } from "./guarded-fetch-addresses.ts";
import { type Hop, toNextHop, toTarget } from "./guarded-fetch-hop.ts";

/** The capability `web`, until it is closed. */
export interface GuardedFetch extends Web {
  close(): Promise<void>;
}

export interface GuardedFetchOptions {
  /** Resolves names; the system's resolver unless given. */
  readonly lookup?: LookupFunction;
  /** The addresses that may be connected to: public ones unless given. */
  readonly isAllowed?: (address: string) => boolean;
}

const CONNECT_MS = 3000;
const FORBIDDEN = "ERR_ADDRESS_NOT_PUBLIC";

/**
 * A name is resolved once: the connection is made to the addresses that were looked at, and all of them must be public.
 * An answer of another address a moment later (rebinding) is never asked for. Redirects are followed here, so that each
 * is looked at like the first address. undici is loaded on the first use.
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const { lookup = resolveName as LookupFunction, isAllowed = isPublicAddress } = options;
  let opened: Promise<Agent> | undefined;

  return {
    async fetch(url, { method = "GET", headers = {}, body, redirects = 0, timeoutMs, maxBytes, signal }) {
      const late = AbortSignal.timeout(timeoutMs);
      const ended = signal ? AbortSignal.any([signal, late]) : late;
      let hop: Hop = { target: toTarget(url), method, headers: new Headers(headers), body };
      opened ??= openAgent(lookup, isAllowed);
      try {
        for (let left = redirects; ; left -= 1) {
          const response = await send(hop, await opened, ended);
          const next = left > 0 ? toNextHop(hop, response.status, response.headers.get("location")) : undefined;
          if (!next) return await toAnswer(response, hop, maxBytes);
          await response.body?.cancel();
          hop = next;
        }
      } catch (error) {
        signal?.throwIfAborted();
        throw error instanceof Problem ? error : toProblem(hop, error);
      }
    },
    close: async () => (await opened)?.close(),
  };
}

async function send({ target, method, headers, body }: Hop, dispatcher: Agent, signal: AbortSignal): Promise<Response> {
  const { fetch } = await import("undici");
  const sent = body === undefined ? {} : { body };
  return fetch(target, { method, headers: [...headers], redirect: "manual", dispatcher, signal, ...sent });
}

/** The bytes are counted as they come out of the decompressor. */
async function toAnswer({ status, headers, body }: Response, { target }: Hop, maxBytes: number): Promise<WebAnswer> {
  return { status, url: target.href, headers, body: await readBounded(body ?? [], target.host, maxBytes) };
}

async function openAgent(lookup: LookupFunction, isAllowed: (address: string) => boolean): Promise<Agent> {
  const { Agent, buildConnector } = await import("undici");
  const connect = buildConnector({ timeout: CONNECT_MS, lookup: toGuardedLookup(lookup, isAllowed) });
  return new Agent({
    connect(target, callback) {
      const host = target.hostname.replace(/^\[|\]$/g, "");
      if (isIP(host) !== 0 && !isAllowed(host)) return callback(toForbidden(host), null); // These are never looked up.
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

/** In words of our own: what a server says in its errors is not repeated. */
function toProblem({ target: { host, hostname } }: Hop, error: unknown): Problem {
  const { name, cause } = error as Error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  if (code === FORBIDDEN) {
    const isAddress = isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
    const why = isAddress ? "is not a public address" : "leads to an address that is not public";
    return new Problem("bad-request", `${hostname} ${why}; only public addresses are fetched`, { cause: error });
  }
  const what = name === "TimeoutError" ? "did not answer in time" : `cannot be fetched (${code ?? name})`;
  return new Problem("upstream-failed", `${host} ${what}`, { cause: error });
}
