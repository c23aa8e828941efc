import type { PublicClient } from "viem";
import { Problem } from "../../api/problem.ts";
import { once } from "../../core/once.ts";
import { networkNameOf } from "../../core/rails/networks.ts";
import { untilAborted } from "../../core/time/deadline.ts";
import { toEndpoint } from "../http/endpoint.ts";
import { repeat } from "../http/retry.ts";

export interface EvmClientOptions {
  /** The chain's JSON-RPC URL. It may contain a secret, so it appears in no error. */
  readonly url: string;
  /** Credentials; they appear in no error. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly chainId: number;
  /** The timeout of one HTTP request. */
  readonly timeoutMs?: number;
  /** How often a request is repeated when the node does not answer. */
  readonly retries?: number;
  readonly retryDelayMs?: number;
}

/** One EVM chain through one RPC URL. On first use, viem is loaded and the node is asked for its chain id. */
export interface EvmClient {
  readonly chainId: number;
  readonly name: string;
  /**
   * Lends viem's client for one piece of work. What the node refuses (a revert, a nonce) is thrown as viem's error.
   * When any request of the work gets no answer, the whole work fails, even if a library in between took the missing
   * answer for a "no". @throws Problem `upstream-failed`; `unavailable` when the node is of another chain; the signal's
   * reason.
   */
  ask<T>(work: (chain: PublicClient) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** The name of a chain in errors. */
function nameOf(chainId: number): string {
  const network = `eip155:${chainId}`;
  const name = networkNameOf(network);
  return name === network ? `EVM ${chainId}` : name;
}

/** Opens nothing before the first `ask`. */
export function createEvmClient(options: EvmClientOptions): EvmClient {
  const { chainId, retries = 2, retryDelayMs = 150 } = options;
  const name = nameOf(chainId);
  const opened = once(() => open(options, name));
  let isRightChain = false;

  const unreachable = (cause: unknown): Problem =>
    new Problem("upstream-failed", `The ${name} chain could not be asked`, { cause });

  async function ask<T>(work: (chain: PublicClient) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const { clientOver, request } = await opened();
    const silences: unknown[] = [];
    const watched: Request = async (call) => {
      const isUnanswered = (error: unknown): boolean => isSilence(error, call.method);
      try {
        return await repeat(() => request(call), isUnanswered, { retries, delayMs: retryDelayMs });
      } catch (error) {
        if (isUnanswered(error)) silences.push(error);
        throw error;
      }
    };
    const chain = clientOver(watched);
    const done = async (): Promise<T> => {
      if (!isRightChain) await checkChain(chain);
      return work(chain);
    };
    const result = await untilAborted(done(), signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw silences.length > 0 ? unreachable(silences[0]) : error;
    });
    if (silences.length > 0) throw unreachable(silences[0]);
    return result;
  }

  async function checkChain(chain: PublicClient): Promise<void> {
    const actual = await chain.getChainId();
    if (actual !== chainId)
      throw new Problem("unavailable", `The RPC URL of ${name} leads to chain ${actual} instead of ${chainId}`);
    isRightChain = true;
  }

  return { chainId, name, ask };
}

type Request = (call: { method: string; params?: unknown }) => Promise<unknown>;

interface Opened {
  readonly request: Request;
  readonly clientOver: (request: Request) => PublicClient;
}

async function open({ url, headers, chainId, timeoutMs = 5000 }: EvmClientOptions, name: string): Promise<Opened> {
  const { createPublicClient, custom, defineChain, http } = await import("viem");
  const nativeCurrency = { name: "native", symbol: "native", decimals: 18 };
  const chain = defineChain({ id: chainId, name, nativeCurrency, rpcUrls: { default: { http: [NOWHERE] } } });
  const endpoint = toEndpoint(url);
  // viem's own timeout ends with the response headers; this one bounds the body as well.
  const fetchFn = (_: unknown, init?: RequestInit): Promise<Response> =>
    fetch(endpoint.url, { ...init, redirect: "error", signal: AbortSignal.timeout(timeoutMs) });
  const { request } = http(NOWHERE, {
    fetchFn,
    fetchOptions: { headers: { ...endpoint.headers, ...headers } },
    timeout: timeoutMs,
    retryCount: 0,
  })({ chain });
  return {
    request,
    // CCIP-Read is off: a contract must not make this server send requests to URLs of the contract's choice.
    clientOver: (watched) =>
      createPublicClient({ chain, ccipRead: false, transport: custom({ request: watched }, { retryCount: 0 }) }),
  };
}

/** The URL that viem gets and prints in its errors, in place of the real one. */
const NOWHERE = "http://rpc.invalid";

/** JSON-RPC codes of a node that is overloaded or broken. -32016: "over rate limit" of Base's public nodes. */
const NO_ANSWER = new Set([429, -32005, -32007, -32016, -32603]);
/** The same in words, whatever the code. */
const TOO_OFTEN = /\brate.?limit|too many requests\b/i;
/** JSON-RPC codes of a node that lacks the method. */
const NO_METHOD = new Set([-32601, -32004]);
/**
 * Messages about a contract's execution, in the words of geth and revm: an answer of the contract, whatever the code. Its
 * author decides how it ends.
 */
const HALTED = [
  /revert|opcode|invalid jump|out ?of ?gas|stack ?(under|over)flow|stack limit|return data out of bounds/i,
  /gas uint64 overflow|code ?size|write protection|^EVM error:? (?!Fatal)/i,
];
/** Methods whose refusal is an answer, whatever its code. */
const JUDGED = new Set(["eth_estimateGas", "eth_sendRawTransaction"]);

/** Whether an error is no answer to the request: no connection, a timeout, a rate limit, a broken node. */
function isSilence(error: unknown, method: string): boolean {
  const refusal = findRefusal(error);
  if (!refusal) return true;
  if (refusal.code === 3 || hasRevertData(refusal.data) || HALTED.some((words) => words.test(refusal.details ?? "")))
    return false;
  if (NO_ANSWER.has(refusal.code) || TOO_OFTEN.test(refusal.details ?? "")) return true;
  return !(NO_METHOD.has(refusal.code) || JUDGED.has(method));
}

interface Refusal {
  readonly code: number;
  readonly data?: unknown;
  readonly details?: string;
}

/** The JSON-RPC error object that the node answered with, somewhere in viem's chain of causes. */
function findRefusal(error: unknown): Refusal | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at.name === "RpcRequestError") return at as Error & Refusal;
  }
  return undefined;
}

const hasRevertData = (data: unknown): boolean => typeof data === "string" && data.startsWith("0x") && data !== "0x";
