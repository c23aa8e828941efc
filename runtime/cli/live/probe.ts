import { Problem } from "../../api/problem.ts";
import { untilAborted } from "../../core/time/deadline.ts";

/** The result of one probe. */
export interface LiveFinding {
  readonly what: string;
  readonly state: "ok" | "warning" | "failed";
  /** What was found; for a problem, also the remedy. */
  readonly found: string;
}

/** What a probe has found; a plain text means that all is well. */
export type Found = string | { readonly state: "warning" | "failed"; readonly found: string };

const PATIENCE_MS = 10_000;

/** Runs one probe, for ten seconds at most. Never rejects: a failure is a finding. */
export async function probe(what: string, look: (signal: AbortSignal) => Promise<Found>): Promise<LiveFinding> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const found = await untilAborted(look(signal), signal);
    return typeof found === "string" ? { what, state: "ok", found } : { what, ...found };
  } catch (error) {
    return { what, state: "failed", found: signal.aborted ? "no answer within 10 seconds" : reasonOf(error) };
  }
}

/** What went wrong on the way, or what the node itself answered, is in the last of the causes. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = toLine(error);
  let last: Inner = error;
  while (last.cause instanceof Error && !(last.cause instanceof Problem)) last = last.cause;
  if (last === error) return message;
  const inner = last.status ? `the answer has status ${last.status}` : (last.details ?? (toLine(last) || last.code));
  return inner && !message.includes(inner) ? `${message} (${inner})` : message;
}

/** viem's errors have the answer's HTTP status, or its text; Node's have a code where they have no message. */
interface Inner extends Error {
  readonly status?: number;
  readonly details?: string;
  readonly code?: string;
}

const toLine = ({ message }: Error): string => message.split("\n")[0] ?? "";
