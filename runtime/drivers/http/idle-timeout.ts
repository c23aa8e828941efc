/** Aborts its signal after a time without activity, or when another signal is aborted. */
export interface IdleTimeout {
  readonly signal: AbortSignal;
  readonly hasElapsed: () => boolean;
  /** Restarts the timeout. */
  renew(): void;
  /** Stops the timeout and detaches from the other signal. Call it when the work is over. */
  readonly end: () => void;
}

/** @param ms the timeout, starting now */
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
