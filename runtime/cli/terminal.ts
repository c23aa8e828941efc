/** Where a command speaks: the result goes to `out` and everything else to `err`. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Aborted when the person wants to stop. */
  readonly signal: AbortSignal;
}

/** The process's own terminal. Ctrl-C asks politely once; the second time it is Node's own. */
export function openTerminal(): Terminal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  return {
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
    signal: stop.signal,
  };
}
