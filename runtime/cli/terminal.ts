import { toInterruptListener } from "./interrupt.ts";

/** Where a command writes: results to `out`, everything else to `err`. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
}

/** As shells report an end by SIGINT. */
const INTERRUPTED = 130;

/** The process's standard streams. The first Ctrl-C aborts `signal`; the second one ends the process at once. */
export function openTerminal(): Terminal {
  const stop = new AbortController();
  process.once("SIGTERM", () => stop.abort());
  process.on("SIGINT", toInterruptListener({ first: () => stop.abort(), again: () => process.exit(INTERRUPTED) }));
  return { ...openOutput(), signal: stop.signal };
}

/** For commands that change nothing, which Ctrl-C ends at once. */
export const openOutput = (): Pick<Terminal, "out" | "err"> => ({
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
});
