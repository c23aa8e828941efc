/** One signal serves the calls of a tenth of its time. */
const STEPS = 10;

/**
 * Makes signals that are aborted after `ms` or up to a tenth later. Calls that begin within a tenth of `ms` share one
 * timer: a timer per call would cost more than the rest of its reservation.
 */
export function createDeadline(ms: number): () => AbortSignal {
  let shared: { readonly signal: AbortSignal; readonly until: number } | undefined;
  return () => {
    const now = performance.now();
    if (!shared || now > shared.until) {
      shared = { signal: AbortSignal.timeout(ms + Math.ceil(ms / STEPS)), until: now + ms / STEPS };
    }
    return shared.signal;
  };
}

/** What `work` gives, or a rejection with `toError()` after `ms`; `work` itself goes on. */
export async function within<T>(ms: number, work: Promise<T>, toError: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(toError()), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** What `work` gives, or a rejection with the signal's reason as soon as it is aborted; `work` itself goes on. */
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

/** Waits for `ms`. False when the signal fired first. Does not keep the process alive. */
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
