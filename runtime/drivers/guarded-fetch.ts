import { lookup as resolveName } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { Agent, Response } from "undici";
import { Problem } from "../api/problem.ts";
import { isPublicAddress } from "./guarded-fetch-addresses.ts";

/** One GET of an address that somebody else has chosen. */
export interface GuardedRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** From the first look-up to the last byte. */
  readonly timeoutMs: number;
  /** Of the body, decompressed. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** Redirects are answers like any other: they are not followed. */
export interface GuardedAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: Buffer;
}

/** Fetches from the public internet alone, whatever the URL says. */
export interface GuardedFetch {
  /** @throws Problem `bad-request` for what is no http(s) URL; `upstream-failed` with the reason when nothing came. */
  get(url: string, request: GuardedRequest): Promise<GuardedAnswer>;
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
 * An answer of another address a moment later (rebinding) is never asked for. undici is loaded on the first use.
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const { lookup = resolveName as LookupFunction, isAllowed = isPublicAddress } = options;
  let opened: Promise<Agent> | undefined;

  return {
    async get(url, { headers = {}, timeoutMs, maxBytes, signal }) {
      const target = URL.parse(url);
      if (!target || !/^https?:$/.test(target.protocol))
        throw new Problem("bad-request", "Only http and https URLs are fetched");
      const late = AbortSignal.timeout(timeoutMs);
      opened ??= openAgent(lookup, isAllowed);
      try {
        const dispatcher = await opened;
        const { fetch } = await import("undici");
        const response = await fetch(target, {
          headers,
          redirect: "manual",
          dispatcher,
          signal: signal ? AbortSignal.any([signal, late]) : late,
        });
        const body = await readBody(response, maxBytes);
        return { status: response.status, headers: response.headers, body };
      } catch (error) {
        if (error instanceof Problem) throw error;
        throw new Problem("upstream-failed", `${target.host} ${explain(error)}`, { cause: error });
      }
    },
    close: async () => (await opened)?.close(),
  };
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

/** Counts the bytes as they come out of the decompressor. */
async function readBody({ body }: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Problem("upstream-failed", `The answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const toForbidden = (address: string): Error =>
  Object.assign(new Error(`${address} is no public address`), { code: FORBIDDEN });

/** In words of our own: what a server says in its errors is not repeated. */
function explain(error: unknown): string {
  const { name, cause } = error as Error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  if (code === FORBIDDEN) return "does not resolve to public addresses alone";
  if (name === "TimeoutError") return "did not answer in time";
  return `cannot be fetched (${code ?? name})`;
}
