/** Signals within this time count as one: a terminal or a supervisor sends it to all, and npm passes it on again. */
const SAME_MS = 1000;

export interface Interrupts {
  readonly first: () => void;
  /** Called at a later signal: the user does not want to wait any longer. */
  readonly again: () => void;
  readonly nowMs?: () => number;
}

/** A listener of SIGINT and SIGTERM. */
export function toInterruptListener({ first, again, nowMs = () => performance.now() }: Interrupts): () => void {
  let sinceMs: number | undefined;
  return () => {
    if (sinceMs !== undefined && nowMs() - sinceMs > SAME_MS) return again();
    if (sinceMs !== undefined) return;
    sinceMs = nowMs();
    first();
  };
}
