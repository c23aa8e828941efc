/** How soon a second SIGINT is still the first Ctrl+C: npm passes it on although the terminal has sent it as well. */
const SAME_MS = 1000;

export interface Interrupts {
  readonly first: () => void;
  /** When somebody is tired of waiting. */
  readonly again: () => void;
  readonly nowMs?: () => number;
}

/** A listener of SIGINT. */
export function toInterruptListener({ first, again, nowMs = () => performance.now() }: Interrupts): () => void {
  let sinceMs: number | undefined;
  return () => {
    if (sinceMs !== undefined && nowMs() - sinceMs > SAME_MS) return again();
    if (sinceMs !== undefined) return;
    sinceMs = nowMs();
    first();
  };
}
