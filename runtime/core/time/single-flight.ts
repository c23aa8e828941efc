import { untilAborted } from "./deadline.ts";

/**
 * Work under one key that concurrent callers share. A caller's signal ends only that caller's wait. The work's own
 * signal is aborted when all callers have left; a later caller then starts the work again. All callers share a failure.
 */
export type SingleFlight<T> = (
  key: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

interface SharedWork<T> {
  readonly outcome: Promise<T>;
  readonly controller: AbortController;
  waiters: number;
}

/** Results are not cached: after the end of the work, the next caller starts it again. */
export function createSingleFlight<T>(): SingleFlight<T> {
  const running = new Map<string, SharedWork<T>>();

  return async (key, signal, work) => {
    signal.throwIfAborted();
    const shared = running.get(key) ?? start(key, work);
    shared.waiters += 1;
    try {
      return await untilAborted(shared.outcome, signal);
    } finally {
      shared.waiters -= 1;
      if (shared.waiters === 0 && running.get(key) === shared) {
        running.delete(key);
        shared.controller.abort();
      }
    }
  };

  function start(key: string, work: (signal: AbortSignal) => Promise<T>): SharedWork<T> {
    const controller = new AbortController();
    const outcome = work(controller.signal).finally(() => {
      if (running.get(key) === shared) running.delete(key);
    });
    const shared: SharedWork<T> = { outcome, controller, waiters: 0 };
    running.set(key, shared);
    return shared;
  }
}
