import { Problem } from "../../api/problem.ts";

/** What one look at the outside world has shown. */
export interface LiveFinding {
  readonly what: string;
  readonly state: "ok" | "warning" | "failed";
  /** What was found; where it is not right, what would be. */
  readonly found: string;
}

/** What a probe has found; a text alone is fine. */
export type Found = string | { readonly state: "warning" | "failed"; readonly found: string };

const PATIENCE_MS = 10_000;

/** Looks once, for ten seconds at most. Never rejects: a failure is a finding. */
export async function probe(what: string, look: (signal: AbortSignal) => Promise<Found>): Promise<LiveFinding> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const found = await look(signal);
    return typeof found === "string" ? { what, state: "ok", found } : { what, ...found };
  } catch (error) {
    return { what, state: "failed", found: signal.aborted ? "no answer within 10 seconds" : reasonOf(error) };
  }
}

/** Problems keep the node's own words in their cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  const inner = cause instanceof Error && !(cause instanceof Problem) ? (cause.message.split("\n")[0] ?? "") : "";
  return inner && !message.includes(inner) ? `${message} (${inner})` : message;
}
