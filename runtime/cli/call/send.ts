import { setTimeout as sleep } from "node:timers/promises";
import { Problem, type ProblemCode } from "../../api/problem.ts";
import { type Answer, ask, textField } from "./http.ts";
import type { Pending } from "./pending.ts";

/** Codes after which the outcome of a payment is settled for good, other than by a result. */
const FINAL: readonly string[] = ["internal", "upstream-failed", "deadline-exceeded"] satisfies ProblemCode[];
const PASSING: readonly number[] = [408, 425, 429];

/** Whether the seller has said its last word about this payment; if not, the same payment is to be sent again. */
function isFinal({ status, json }: Answer): boolean {
  const code = textField(json, "code") ?? "";
  if (status >= 500) return FINAL.includes(code);
  return !PASSING.includes(status) && code !== "payment-in-progress";
}

/** A seller's last word. */
export interface LastWord {
  readonly answer: Answer;
  /** Whether it came at once. A refusal that follows an unknown outcome does not prove that nothing was paid. */
  readonly isFirst: boolean;
}

/**
 * Sends a request with its payment until the seller's last word, always with the same payment: it is charged at most
 * once, however often it is sent.
 * @throws Problem `settlement-unknown` when the time is up or the signal aborted.
 */
export async function sendPaid(
  { request, payment }: Pending,
  { waitMs, signal, onWait }: { waitMs: number; signal: AbortSignal; onWait: (why: string, seconds: number) => void },
): Promise<LastWord> {
  const end = Date.now() + waitMs;
  let why = "";
  for (let attempt = 0; ; attempt++) {
    let pauseMs = Math.min(1000 * 2 ** attempt, 10_000);
    try {
      const answer = await ask(request, { headers: { "payment-signature": payment }, signal });
      if (isFinal(answer)) return { answer, isFirst: attempt === 0 };
      why = `${answer.status} ${textField(answer.json, "detail") ?? ""}`.trim();
      pauseMs = retryAfterMs(answer) ?? pauseMs;
    } catch (error) {
      if (signal.aborted) throw unknown("interrupted");
      if (!(error instanceof Problem)) throw error;
      why = error.message;
    }
    if (Date.now() + pauseMs > end) throw unknown(why);
    onWait(why, pauseMs / 1000);
    await sleep(pauseMs, undefined, { signal }).catch(() => {
      throw unknown("interrupted");
    });
  }
}

/** `Retry-After` in seconds, at least a fifth of one; undefined when it is absent or a date. */
function retryAfterMs({ headers }: Answer): number | undefined {
  const seconds = headers.get("retry-after") ?? "";
  return /^\d{1,5}$/.test(seconds) ? Math.max(Number(seconds) * 1000, 200) : undefined;
}

const unknown = (why: string): Problem =>
  new Problem("settlement-unknown", `the payment was sent, and its outcome is not known (${why})`);
