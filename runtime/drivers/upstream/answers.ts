import type { RpcAnswer, UpstreamAnswer } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import { readBounded } from "../http/bounded-body.ts";
import { toRetryAfterMs } from "../http/retry-after.ts";
import type { WireAnswer } from "./transport.ts";

/** A failure that may pass, in words that follow the upstream's title. */
export interface Setback {
  /** `answered with status 503`. */
  readonly reason: string;
  /** Whether the upstream lives, and only does not want to be asked so often. */
  readonly isAlive: boolean;
  /** How long it has asked to be left alone. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** What one attempt gave. */
export type Outcome<T> =
  | { readonly value: T; readonly setback?: undefined }
  | { readonly value?: undefined; readonly setback: Setback };

/** A node that says "too many requests" inside of an answer. */
export const RATE_LIMITED: Setback = { reason: "has been asked too often", isAlive: true };

const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
/**
 * JSON-RPC errors that pass: EIP-1474's "limit exceeded", which is "the node is behind" on Solana; "over rate limit" of
 * Base's public nodes, on Solana "not there yet"; and HTTP's own number. QuickNode's -32007 comes with status 429; without
 * it, it is Solana's skipped slot, which is an answer.
 */
const PASSING_ERRORS: ReadonlySet<number> = new Set([-32005, -32016, 429]);

/** What a status says about its upstream; undefined for an answer. @param now milliseconds since the Unix epoch. */
export function toSetback({ status, headers }: WireAnswer, now: number): Setback | undefined {
  if (status < 500 && !PASSING.has(status)) return undefined;
  const retryAfterMs = toRetryAfterMs(headers.get("retry-after"), now);
  if (status === 429) return { ...RATE_LIMITED, retryAfterMs };
  return { reason: `answered with status ${status}`, isAlive: false, retryAfterMs };
}

/**
 * The whole body, with the text decoded as UTF-8.
 * @throws Problem `upstream-failed` when it is larger than `maxBytes`; whatever the body throws.
 */
export async function readAnswer(
  { status, headers, body }: WireAnswer,
  title: string,
  maxBytes: number,
): Promise<UpstreamAnswer> {
  const text = (await readBounded(body, title, maxBytes)).toString("utf8");
  return {
    status,
    headers,
    text,
    json: () => parse(text, `${title} answered with what is no JSON (status ${status})`),
  };
}

function parse(text: string, complaint: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("upstream-failed", complaint); // Without its cause, which repeats the upstream's words.
  }
}

/** A node's answer (JSON-RPC 2.0, section 5). @throws Problem `upstream-failed` when it is none. */
export function toRpcAnswer({ status, text }: UpstreamAnswer, title: string): RpcAnswer {
  const complaint = `${title} answered with what is no JSON-RPC (status ${status})`;
  const body = parse(text, complaint);
  if (isObject(body) && body.jsonrpc === "2.0") {
    if (isRpcError(body.error)) return { error: body.error };
    if (body.result !== undefined) return { result: body.result };
  }
  throw new Problem("upstream-failed", complaint);
}

/** Whether a node did not want to answer now. */
export const isRateLimited = ({ error }: RpcAnswer): boolean => error !== undefined && PASSING_ERRORS.has(error.code);

const isRpcError = (value: unknown): value is NonNullable<RpcAnswer["error"]> =>
  isObject(value) && Number.isInteger(value.code) && typeof value.message === "string";
