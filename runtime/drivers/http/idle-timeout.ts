/** A signal that is aborted when nothing has happened for a while, or when somebody else's signal is. */
export interface Patience {
  readonly signal: AbortSignal;
  /** Whether it was the time that has ended it. */
  readonly isOver: () => boolean;
  /** Something has happened: the time begins anew. */
  renew(): void;
  /** To be called when the wait is over: nothing is left behind at the other signal. */
  readonly end: () => void;
}

/** @param ms how long, from now on. */
export function createPatience(ms: number, signal: AbortSignal): Patience {
  const controller = new AbortController();
  let isOver = false;
  const abort = (): void => controller.abort(signal.reason);
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort();
  }, ms);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return {
    signal: controller.signal,
    isOver: () => isOver,
    renew: () => void timer.refresh(),
    end() {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}
