import { setTimeout as sleep } from "node:timers/promises";

export interface Backoff {
  /** The first delay; doubled each time. */
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The delay after `failures` failures in a row (from 1), ±25 % at random so that callers do not retry together. */
export const toBackoffMs = (failures: number, { firstMs, longestMs }: Backoff): number =>
  Math.min(firstMs * 2 ** (failures - 1), longestMs) * (0.75 + Math.random() / 2);

export interface RepeatOptions {
  /** How many times `work` is repeated after the first attempt. */
  readonly retries: number;
  /** The delay before the first repetition. */
  readonly delayMs: number;
}

/** Repeats `work` while `isOutage` recognizes its failure. @throws the last failure. */
export async function repeat<T>(
  work: () => Promise<T>,
  isOutage: (error: unknown) => boolean,
  { retries, delayMs }: RepeatOptions,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (failures > retries || !isOutage(error)) throw error;
      await delay(toBackoffMs(failures, { firstMs: delayMs, longestMs: Number.POSITIVE_INFINITY }));
    }
  }
}

/** Waits for `ms` milliseconds. @throws the signal's reason. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
}
