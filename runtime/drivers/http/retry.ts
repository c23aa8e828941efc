import { setTimeout as sleep } from "node:timers/promises";

/** How often and how patiently a read is repeated when the node did not answer it. */
export interface Retries {
  /** How many times more, after the first. */
  readonly retries: number;
  /** Before the first repetition; doubled for each further one, and spread by half so that many callers do not return at once. */
  readonly delayMs: number;
}

/** Repeats `work` while it fails with what `isOutage` recognizes, and then gives up with the last failure. */
export async function repeat<T>(
  work: () => Promise<T>,
  isOutage: (error: unknown) => boolean,
  { retries, delayMs }: Retries,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= retries || !isOutage(error)) throw error;
      await delay(delayMs * 2 ** attempt * (0.75 + Math.random() / 2));
    }
  }
}

/** Waits for `ms`, or rejects with the signal's reason. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
}
