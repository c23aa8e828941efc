import type { Connection } from "@solana/web3.js";
import { Problem } from "../../api/problem.ts";
import { isObject, tryParseJson } from "../../core/json.ts";
import { once } from "../../core/once.ts";
import { untilAborted } from "../../core/time/deadline.ts";
import { toEndpoint } from "../http/endpoint.ts";
import { repeat } from "../http/retry.ts";

export interface SolanaClientOptions {
  /** The chain's JSON-RPC URL. It may contain a secret, so it appears in no error. */
  readonly url: string;
  /** Credentials; they appear in no error. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** CAIP-2; its reference is the beginning of the chain's genesis hash. */
  readonly network: string;
  /** The timeout of one HTTP request. */
  readonly timeoutMs?: number;
  /** How often a request is repeated when the node does not answer. */
  readonly retries?: number;
  readonly retryDelayMs?: number;
}

/** A Solana chain through one RPC URL. On first use, web3.js is loaded and the node is asked for its genesis hash. */
export interface SolanaClient {
  /** Lends web3.js's connection for one piece of work. @throws Problem `upstream-failed`; the signal's reason. */
  ask<T>(work: (connection: Connection) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Opens nothing before the first `ask`. Uses no websocket: confirmations are polled. */
export function createSolanaClient(options: SolanaClientOptions): SolanaClient {
  const { network } = options;
  const opened = once(() => open(options));
  let isRightChain = false;

  async function checkChain(connection: Connection): Promise<void> {
    const genesis = await connection.getGenesisHash();
    if (`solana:${genesis.slice(0, GENESIS_LENGTH)}` !== network)
      throw new Problem("unavailable", `The RPC URL of Solana leads to another chain than ${network}`);
    isRightChain = true;
  }

  return {
    async ask<T>(work: (connection: Connection) => Promise<T>, signal?: AbortSignal): Promise<T> {
      signal?.throwIfAborted();
      const connection = await opened();
      const done = async (): Promise<T> => {
        if (!isRightChain) await checkChain(connection);
        return work(connection);
      };
      return untilAborted(done(), signal).catch((cause: unknown) => {
        signal?.throwIfAborted();
        throw cause instanceof Problem
          ? cause
          : new Problem("upstream-failed", "The Solana chain could not be asked", { cause });
      });
    },
  };
}

/** CAIP-2 references have at most 32 characters. */
const GENESIS_LENGTH = 32;

/** The URL that web3.js gets and may print, in place of the real one. */
const NOWHERE = "http://rpc.invalid";

async function open(options: SolanaClientOptions): Promise<Connection> {
  const { Connection } = await import("@solana/web3.js");
  return new Connection(NOWHERE, {
    commitment: "confirmed",
    disableRetryOnRateLimit: true,
    httpAgent: false,
    fetch: fetchFrom(options),
  });
}

type Fetch = (input: unknown, init?: RequestInit) => Promise<Response>;

function fetchFrom(options: SolanaClientOptions): Fetch {
  const { url: text, headers: keys, timeoutMs = 5000, retries = 2, retryDelayMs = 150 } = options;
  const { url, headers } = toEndpoint(text);
  const attempt = async ({ body }: RequestInit): Promise<Response> => {
    const bounds = { redirect: "error", signal: AbortSignal.timeout(timeoutMs) } as const;
    const response = await fetch(url, {
      method: "POST",
      headers: { ...JSON_BODY, ...headers, ...keys },
      body: body!,
      ...bounds,
    });
    if (!response.ok) throw new Error(`The RPC node answered with status ${response.status}`);
    const text = await response.text();
    const code = errorOf(text);
    if (PASSING.has(code)) throw new Error(`The RPC node answered with the error ${code}`);
    return new Response(text);
  };
  return (_, init = {}) =>
    repeat(
      () => attempt(init),
      () => true,
      { retries, delayMs: retryDelayMs },
    );
}

/**
 * JSON-RPC errors that pass, as those that plugins' upstreams know: -32005, the node is behind; -32016, it has not reached
 * the slot that was asked for; 429. Another node at the same address may answer.
 */
const PASSING = new Set<unknown>([-32005, -32016, 429]);
/** Longer answers are no such errors, and are read once. */
const LONGEST_ERROR = 4096;

function errorOf(text: string): unknown {
  const answer = text.length <= LONGEST_ERROR ? tryParseJson(text) : undefined;
  return isObject(answer) && isObject(answer.error) ? answer.error.code : undefined;
}

const JSON_BODY = { "content-type": "application/json" };
