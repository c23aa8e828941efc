/** How many signals stand for one length of time: each fires at most a tenth later than was asked. */
const STEPS = 10;

/**
 * Signals that fire after `ms`, or a little later. A timer for every call costs more than the rest of its reservation, so
 * calls that begin within the same tenth of that time share one.
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
