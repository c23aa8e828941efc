/** The longest time of a timer of Node, about 24 days: a longer one would be over at once. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1;

/** Deadlines share one timer within a tenth of their time. */
const STEPS = 10;

/** The longest interval of the checks whether the event loop is blocked; the usual one is a tenth of the deadline. */
const LONGEST_BEAT_MS = 500;

/**
 * A signal that is aborted after `ms` of awake time: the time in which the event loop was blocked is added. Data that
 * arrived during the block is read first, since it may contain the awaited answer.
 */
function awakeTimeout(ms: number): AbortSignal {
  const controller = new AbortController();
  const beatMs = Math.min(Math.ceil(ms / STEPS), LONGEST_BEAT_MS);
  const began = performance.now();
  let beaten = began;
  let stoodMs = 0;
  const beat = (): void => {
    const gap = performance.now() - beaten;
    if (gap > 2 * beatMs) stoodMs += gap - beatMs;
    beaten += gap;
  };
  const beating = setInterval(beat, beatMs).unref();
  const end = (): void => {
    clearInterval(beating);
    controller.abort(new DOMException(`There was no answer within ${ms} ms`, "TimeoutError"));
  };
  const wait = (forMs: number): void => {
    const due = (): void => {
      beat();
      const leftMs = ms - (beaten - began - stoodMs);
      if (leftMs >= 1) wait(Math.ceil(leftMs));
      else end();
    };
    AbortSignal.timeout(forMs).addEventListener("abort", () => setImmediate(due), { once: true });
  };
  wait(ms);
  return controller.signal;
}

/**
 * Makes signals that are aborted after `ms` of awake time or up to a tenth later (see `awakeTimeout`). Calls that begin
 * within a tenth of `ms` share one timer, since a timer per call costs more than the rest of a reservation.
 */
export function createDeadline(ms: number): () => AbortSignal {
  let shared: { readonly signal: AbortSignal; readonly until: number } | undefined;
  return () => {
    const now = performance.now();
    if (!shared || shared.signal.aborted || now > shared.until) {
      shared = { signal: awakeTimeout(ms + Math.ceil(ms / STEPS)), until: now + ms / STEPS };
    }
    return shared.signal;
  };
}

/** The result of `work`, or a rejection with `toError()` after `ms`; `work` itself goes on. */
export async function within<T>(ms: number, work: Promise<T>, toError: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(toError()), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** The result of `work`, or a rejection with the signal's reason when it is aborted; `work` itself goes on. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Waits for `ms`. False when the signal was aborted first. Does not keep the process alive. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stop = (): void => {
    clearTimeout(timer);
    resolve(false);
  };
  const timer = setTimeout(() => {
    signal.removeEventListener("abort", stop);
    resolve(true);
  }, ms).unref();
  signal.addEventListener("abort", stop, { once: true });
  return promise;
}
