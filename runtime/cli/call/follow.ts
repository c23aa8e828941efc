import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import { printable } from "../printable.ts";
import { ask, field, textField, toExactJson } from "./http.ts";

/** The time between two polls. payphone allows two polls a second for each job. */
const PAUSE_MS = 2000;
/** Polling ends after this many polls in a row, a minute, without a status or a reason to wait: a 404, for example. */
const MOST_UNTOLD = 30;
const ENDS = ["DELIVERED", "FAILED", "UNKNOWN"];

export interface FollowOptions {
  /** Called with the job's step and estimate whenever the step changes. */
  readonly onStep: (text: string) => void;
  readonly signal: AbortSignal;
  readonly pauseMs?: number;
}

/** The status URL of an accepted job; undefined unless the result is one and the URL has the seller's origin. */
export function toStatusUrl(result: unknown, boughtAt: string): string | undefined {
  const url = URL.parse(textField(result, "status_url") ?? "");
  const isAccepted = textField(result, "status") === "accepted" && url?.origin === new URL(boughtAt).origin;
  return isAccepted ? url?.href : undefined;
}

/**
 * Polls a job until it has ended, and returns its last status. Failed polls are repeated. @throws the signal's reason,
 * or Problem `upstream-failed` when the URL gives no status for good.
 */
export async function follow(statusUrl: string, options: FollowOptions): Promise<unknown> {
  const { onStep, signal, pauseMs = PAUSE_MS } = options;
  let said = "";
  let untold = 0;
  for (;;) {
    const answer = await ask({ method: "GET", url: statusUrl, body: undefined }, { signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      return { status: 503, text: "", json: { step: Problem.from(error).message } };
    });
    const status = answer.status === 200 ? textField(answer.json, "status") : undefined;
    if (status !== undefined && ENDS.includes(status)) return toExactJson(answer);
    const mayPass = answer.status >= 500 || answer.status === 429;
    untold = status !== undefined || mayPass ? 0 : untold + 1;
    if (untold === MOST_UNTOLD) {
      const what = printable(`${statusUrl} gives no status (HTTP ${answer.status})`);
      throw new Problem("upstream-failed", `${what}. The job may go on: ask again later, or ask the seller`);
    }
    const eta = field(answer.json, "eta_seconds");
    const step = printable(textField(answer.json, "step") ?? status ?? `status ${answer.status}`);
    if (step !== said) onStep(typeof eta === "number" ? `${step} (about ${eta} s left)` : step);
    said = step;
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** Why an ended job delivered nothing, and whether it was refunded; undefined when it delivered. */
export function explainEnd(job: unknown, statusUrl: string): string | undefined {
  const status = textField(job, "status");
  if (status === "DELIVERED") return undefined;
  const refund = textField(job, "refund_tx");
  const isManual = textField(job, "refund_pending") === "manual";
  // A refund takes some seconds, and some services make none: both are null.
  const isOpen = status === "FAILED" && field(job, "refund_tx") === null;
  const later = isOpen ? `whether it is paid back, ${statusUrl} will tell` : undefined;
  const money = refund ? `paid back in ${refund}` : isManual ? "the seller pays it back by hand" : later;
  return printable(`the job is ${status}: ${[textField(job, "error"), money].filter(Boolean).join("; ")}`);
}
