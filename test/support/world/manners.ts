import type { Line } from "../sources/scripted-source.ts";
import type { WorldClock } from "./clock.ts";

/** A request to a source: a JSON-RPC call, or a GET. */
export interface Question {
  /** The JSON-RPC method, or the path. */
  readonly name: string;
  /** The parameters of a JSON-RPC call. */
  readonly params: readonly unknown[];
  /** The query of a GET. */
  readonly query: URLSearchParams;
  /** How often the same question was asked before. */
  readonly times: number;
}

/** A token bucket. */
export interface Limit {
  readonly perSecond: number;
  readonly burst: number;
}

/** How a source limits its callers. By default every question is answered at once. */
export interface Manners {
  /** The limit of all requests together. */
  readonly rate?: Limit;
  /** The limits of each JSON-RPC method, or of each last part of a path. */
  readonly rates?: Readonly<Record<string, Limit>>;
  /** The answer to a request above a limit; default: status 429. */
  readonly refusal?: Line;
  readonly fault?: Fault;
}

/** An answer that replaces the real one; undefined keeps the real one. */
export type Fault = (question: Question) => Line | undefined;

/** Counts requests against limits. */
export interface Gatekeeper {
  /** False when the request is above a limit. */
  admit(name: string, manners: Manners): boolean;
}

export function createGatekeeper(clock: Pick<WorldClock, "now">): Gatekeeper {
  const buckets = new Map<string, { tokens: number; at: number }>();

  function take(key: string, { perSecond, burst }: Limit): boolean {
    const bucket = buckets.get(key) ?? { tokens: burst, at: clock.now() };
    const passed = Math.max(0, clock.now() - bucket.at) / 1000;
    const tokens = Math.min(burst, bucket.tokens + passed * perSecond);
    const isAdmitted = tokens >= 0.999; // Sums of fractions are not exact.
    buckets.set(key, { tokens: isAdmitted ? tokens - 1 : tokens, at: clock.now() });
    return isAdmitted;
  }

  return {
    admit(name, { rate, rates = {} }) {
      const last = name.split("/").at(-1) ?? name;
      const own = rates[last];
      return (!rate || take("", rate)) && (!own || take(last, own));
    },
  };
}

/** How Base's public nodes refuse requests above their rate limit: with a JSON-RPC error and status 200. */
export const OVER_RATE_LIMIT: Line = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  error: { code: -32016, message: "over rate limit" },
});

/** Status 429 with `Retry-After`. */
export const askForPause = (seconds: number): Line => ({
  status: 429,
  headers: { "retry-after": String(seconds) },
  body: "Too many requests",
});
