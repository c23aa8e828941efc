/** Aborts its signal when nothing has happened for a while, or when another signal is aborted. */
export interface IdleTimeout {
  readonly signal: AbortSignal;
  /** Whether the time ran out. */
  readonly hasElapsed: () => boolean;
  /** Starts the time again. */
  renew(): void;
  /** Stops the time and lets go of the other signal. To be called when the work is over. */
  readonly end: () => void;
}

/** @param ms how long, from now on. */
export function createIdleTimeout(ms: number, signal: AbortSignal): IdleTimeout {
  const controller = new AbortController();
  let hasElapsed = false;
  const abort = (): void => controller.abort(signal.reason);
  const timer = setTimeout(() => {
    hasElapsed = true;
    controller.abort();
  }, ms);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return {
    signal: controller.signal,
    hasElapsed: () => hasElapsed,
    renew: () => void timer.refresh(),
    end() {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}
