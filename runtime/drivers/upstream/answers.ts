import type { RpcAnswer, UpstreamAnswer } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import { readBounded } from "../http/bounded-body.ts";
import { toRetryAfterMs } from "../http/retry-after.ts";
import type { WireAnswer } from "./transport.ts";

/** A transient failure. */
export interface Setback {
  /** The rest of a sentence after the upstream's title: `answered with status 503`. */
  readonly reason: string;
  /** Whether the upstream works and only limits the rate. */
  readonly isAlive: boolean;
  /** Whether the upstream answered, with a failure. */
  readonly isAnswer?: boolean;
  /** The pause that the upstream asked for. */
  readonly retryAfterMs?: number | undefined;
  /** The pause for callers when the upstream asked for none. */
  readonly unnamedMs?: number;
  readonly cause?: unknown;
}

export type AttemptOutcome<T> =
  | { readonly value: T; readonly setback?: undefined }
  | { readonly value?: undefined; readonly setback: Setback };

/** The setback when a node reports its rate limit in a JSON-RPC error. */
export const RATE_LIMITED: Setback = { reason: "has been asked too often", isAlive: true };

const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
/**
 * Transient JSON-RPC errors. -32005: "limit exceeded" (EIP-1474), on Solana "node is behind". -32016: "over rate limit"
 * of Base's public nodes, on Solana "minimum context slot not reached". 429: HTTP's number. Not -32007, which on Solana
 * means a skipped slot: QuickNode, which uses it for its rate limit, sends status 429 with it.
 */
const PASSING_ERRORS: ReadonlySet<number> = new Set([-32005, -32016, 429]);

/** The setback of a status; undefined when the status is an answer. @param now Unix milliseconds */
export function toSetback({ status, headers }: WireAnswer, now: number): Setback | undefined {
  const retryAfterMs = toRetryAfterMs(headers.get("retry-after"), now);
  // GitHub's second limit: a refusal of the credential names no time.
  const isLimit = status === 429 || (status === 403 && retryAfterMs !== undefined);
  if (status < 500 && !isLimit && !PASSING.has(status)) return undefined;
  if (isLimit) return { ...RATE_LIMITED, retryAfterMs, unnamedMs: 1000 };
  return { reason: `answered with status ${status}`, isAlive: false, isAnswer: true, retryAfterMs };
}

/**
 * Reads a whole body as UTF-8.
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
    throw new Problem("upstream-failed", complaint); // Without the cause, which would quote the body.
  }
}

/** Reads a JSON-RPC response (JSON-RPC 2.0, section 5). @throws Problem `upstream-failed` when it is malformed. */
export function toRpcAnswer({ status, text }: UpstreamAnswer, title: string): RpcAnswer {
  const complaint = `${title} answered with what is no JSON-RPC (status ${status})`;
  const body = parse(text, complaint);
  if (isObject(body) && body.jsonrpc === "2.0") {
    if (isRpcError(body.error)) return { error: body.error };
    if (body.result !== undefined) return { result: body.result };
  }
  throw new Problem("upstream-failed", complaint);
}

/** With -32005, Infura also refuses a log search with too many results: an answer, which waiting does not change. */
const ABOUT_SIZE = /\b(?:results?|logs?|range|blocks?)\b/i;
const ABOUT_RATE = /\brate.?limit|too many requests\b/i;

/** Whether a node refused because of its rate limit. */
export function isRateLimited({ error }: RpcAnswer): boolean {
  if (!error || /^execution reverted/i.test(error.message)) return false;
  if (PASSING_ERRORS.has(error.code)) return !ABOUT_SIZE.test(error.message);
  return ABOUT_RATE.test(error.message);
}

const isRpcError = (value: unknown): value is NonNullable<RpcAnswer["error"]> =>
  isObject(value) && Number.isInteger(value.code) && typeof value.message === "string";
