import { Problem } from "../../api/problem.ts";
import type { Lease } from "./leases.ts";

/** The result of an attempt: done, retry after a growing delay, or retry after the given time. */
export type AttemptResult = "done" | "retry" | { readonly retryInMs: number };

export interface AttemptTerms {
  /** Aborted by `close`, and when the lease expires. */
  readonly signal: AbortSignal;
  /** The delay before the next attempt when this one ends with "retry". */
  readonly retryMs: number;
}

export interface SweeperOptions<T> {
  /** The open keys of all processes. They are attempted in this order. */
  readonly list: () => AsyncIterable<string>;
  /**
   * Reads the open item of a key; undefined when there is nothing to do now. Called before the lease is claimed and
   * again under it. A rejection counts as "retry".
   */
  readonly read: (key: string) => Promise<T | undefined>;
  readonly claim: (key: string) => Promise<Lease | undefined>;
  /** One attempt, under the key's lease. A rejection counts as "retry". */
  readonly attempt: (key: string, item: T, terms: AttemptTerms) => Promise<AttemptResult>;
  /** Called for rejected attempts and for leases that could not be released. */
  readonly onError: (error: unknown) => void;
  /** Called once per outage, when the open keys cannot be listed. */
  readonly onOutage: (error: unknown) => void;
  /** The delay after the first attempt that ends with "retry"; doubled after each further one, up to `longestMs`. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** The least time between two listings; after one that failed, `firstMs` where that is shorter. */
  readonly sweepMs: number;
  /** Up to so much is added to that time, at random, so that no process is always the first to list. */
  readonly spreadMs?: number;
  /** Keys of one lane share a limit and wait for each other. All keys are in one lane by default. */
  readonly laneOf?: (key: string) => string;
  /** How many keys of a lane are attempted concurrently; 16 by default. */
  readonly limitOf?: (lane: string) => number;
}

/** Attempts every open key, in one process at a time, until it is done. */
export interface Sweeper {
  /** Attempts a key after `waitMs` milliseconds (0 by default), unless it is scheduled already. */
  schedule(key: string, waitMs?: number): void;
  /** Schedules all open keys, now and every `sweepMs`. */
  start(): void;
  /** Schedules all open keys now, once. */
  sweep(): void;
  /** Starts no more attempts, and waits for the running ones. */
  drain(): Promise<void>;
  /** Starts no more attempts, aborts the running ones, and waits for their end. */
  close(): Promise<void>;
}

/** The running keys, and the keys that wait for a place, in order. */
interface Lane {
  running: number;
  readonly waiting: { readonly key: string; readonly retryMs: number }[];
}

const LIMIT = 16;
const REST = 10;

/** How long to rest after a listing: ten times its length, since a list in Redis reads the names of all keys. */
export const restAfter = (began: number): number => (performance.now() - began) * REST;

export function createSweeper<T>(options: SweeperOptions<T>): Sweeper {
  const { list, read, claim, attempt, onError, onOutage, firstMs, longestMs, sweepMs } = options;
  const { spreadMs = 0, laneOf = () => "", limitOf = () => LIMIT } = options;
  const closing = new AbortController();
  const lanes = new Map<string, Lane>();
  /** Every key that is scheduled, waiting or running, with its timer. */
  const known = new Map<string, NodeJS.Timeout | undefined>();
  const running = new Set<Promise<void>>();
  let sweeping: NodeJS.Timeout | undefined;
  /** After the last listing, in milliseconds. */
  let lastRest = Number.POSITIVE_INFINITY;
  let isOutage = false;
  let isEnding = false;

  const end = (): void => {
    isEnding = true;
    clearTimeout(sweeping);
    for (const timer of known.values()) clearTimeout(timer);
  };
  return {
    schedule: (key, waitMs = 0) => {
      if (!known.has(key)) wait(key, waitMs, firstMs);
    },
    start: () => void sweepAgain(),
    sweep: () => void sweep(),
    async drain() {
      end();
      await Promise.all(running);
    },
    async close() {
      closing.abort(new Problem("unavailable", "The service is shutting down"));
      end();
      await Promise.all(running);
    },
  };

  async function sweepAgain(): Promise<void> {
    const began = performance.now();
    await sweep();
    const rest = restAfter(began);
    const waitMs = isOutage
      ? Math.min(firstMs, sweepMs)
      : Math.max(sweepMs, Math.min(rest, lastRest)) + Math.random() * spreadMs; // One slow listing may have stood still.
    lastRest = rest;
    if (!isEnding) sweeping = setTimeout(() => void sweepAgain(), waitMs).unref();
  }

  async function sweep(): Promise<void> {
    try {
      for await (const key of list()) if (!known.has(key)) wait(key, 0, firstMs);
      isOutage = false;
    } catch (error) {
      if (!isOutage) onOutage(error);
      isOutage = true;
    }
  }

  function wait(key: string, waitMs: number, retryMs: number): void {
    if (isEnding) return;
    known.set(key, waitMs > 0 ? setTimeout(() => enter(key, retryMs), waitMs).unref() : undefined);
    if (waitMs <= 0) enter(key, retryMs);
  }

  function enter(key: string, retryMs: number): void {
    const name = laneOf(key);
    const lane = lanes.get(name) ?? { running: 0, waiting: [] };
    lanes.set(name, lane);
    lane.waiting.push({ key, retryMs });
    advance(lane, limitOf(name));
  }

  function advance(lane: Lane, limit: number): void {
    while (lane.running < limit && !isEnding) {
      const next = lane.waiting.shift();
      if (!next) return;
      lane.running += 1;
      const run = runOnce(next.key, next.retryMs).finally(() => {
        running.delete(run);
        lane.running -= 1;
        advance(lane, limit);
      });
      running.add(run);
    }
  }

  /** Never rejects. */
  async function runOnce(key: string, retryMs: number): Promise<void> {
    const result = await tryOnce(key, retryMs);
    if (result === "done") known.delete(key);
    else if (result === "retry") wait(key, retryMs, Math.min(retryMs * 2, longestMs));
    else wait(key, result.retryInMs, firstMs);
  }

  async function tryOnce(key: string, retryMs: number): Promise<AttemptResult> {
    try {
      if ((await read(key)) === undefined) return "done";
      const lease = await claim(key);
      if (!lease) return "retry"; // Another process is working on the key; its lease expires if that process dies.
      return await underLease(key, lease, retryMs);
    } catch {
      return "retry"; // The store is unreachable; `onOutage` reports that once for all keys.
    }
  }

  async function underLease(key: string, lease: Lease, retryMs: number): Promise<AttemptResult> {
    try {
      const item = await read(key); // Another process may have finished the item before the lease was claimed.
      if (item === undefined) return "done";
      const signal = AbortSignal.any([closing.signal, lease.lost()]);
      return await attempt(key, item, { signal, retryMs }).catch((error: unknown) => {
        onError(error);
        return "retry" as const;
      });
    } finally {
      await lease.release().catch(onError);
    }
  }
}
