import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../api/problem.ts";
import { ask, field, textField } from "./call-http.ts";
import { printable } from "./call-text.ts";

/** Between two questions. A seller of payphone's kind takes two a second for each job. */
const PAUSE_MS = 2000;
const ENDS = ["DELIVERED", "FAILED", "UNKNOWN"];

export interface FollowOptions {
  /** Told what is being done, whenever that changes. */
  readonly onStep: (text: string) => void;
  readonly signal: AbortSignal;
  readonly pauseMs?: number;
}

/** Where the job that was accepted can be asked for; undefined for an answer that is no accepted job of the same seller. */
export function toStatusUrl(result: unknown, boughtAt: string): string | undefined {
  const url = URL.parse(textField(result, "status_url") ?? "");
  const isAccepted = textField(result, "status") === "accepted" && url?.origin === new URL(boughtAt).origin;
  return isAccepted ? url?.href : undefined;
}

/**
 * Asks how a job stands until it has ended, free of charge. Silence and refusals are waited out.
 * @throws Problem `upstream-failed` when the job has not delivered, with its last status; the signal's reason.
 */
export async function follow(statusUrl: string, options: FollowOptions): Promise<unknown> {
  const { onStep, signal, pauseMs = PAUSE_MS } = options;
  let said = "";
  for (;;) {
    const answer = await ask({ method: "GET", url: statusUrl, body: undefined }, { signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      return { status: 503, json: { step: Problem.from(error).message } };
    });
    const status = answer.status === 200 ? textField(answer.json, "status") : undefined;
    if (status === "DELIVERED") return answer.json;
    if (status !== undefined && ENDS.includes(status)) throw toProblem(status, answer.json);
    const eta = field(answer.json, "eta_seconds");
    const step = printable(textField(answer.json, "step") ?? status ?? `status ${answer.status}`);
    if (step !== said) onStep(typeof eta === "number" ? `${step} (about ${eta} s left)` : step);
    said = step;
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function toProblem(status: string, job: unknown): Problem {
  const refund = textField(job, "refund_tx");
  const words = [textField(job, "error"), refund && `paid back in ${refund}`].filter(Boolean).join("; ");
  return new Problem("upstream-failed", printable(`the job is ${status}: ${words}`), { members: { job } });
}
