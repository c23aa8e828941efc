/** Aborts its signal after a time without activity, or when another signal is aborted. */
export interface IdleTimeout {
  readonly signal: AbortSignal;
  readonly hasElapsed: () => boolean;
  /** Restarts the timeout. */
  renew(): void;
  /** Stops the timeout and detaches from the other signal. Call it when the work is over. */
  readonly end: () => void;
}

/** A timer that fires this much too late was held up: what arrived meanwhile has not been read yet. */
const STALL_MS = 500;

/** @param ms the timeout, starting now; it starts again when this process stood still at its end */
export function createIdleTimeout(ms: number, signal: AbortSignal): IdleTimeout {
  const controller = new AbortController();
  let hasElapsed = false;
  const abort = (): void => controller.abort(signal.reason);
  let timer: NodeJS.Timeout;
  let beganAt = 0;
  const begin = (): void => {
    beganAt = performance.now();
    timer = setTimeout(elapse, ms);
  };
  const elapse = (): void => {
    hasElapsed = performance.now() - beganAt <= ms + STALL_MS;
    if (hasElapsed) controller.abort();
    else begin();
  };
  begin();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return {
    signal: controller.signal,
    hasElapsed: () => hasElapsed,
    renew() {
      clearTimeout(timer);
      begin();
    },
    end() {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}
