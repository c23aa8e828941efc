import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import { ask, field, textField } from "./http.ts";
import { printable } from "./text.ts";

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

/** Asks how a job stands until it has ended, free of charge, and gives its last status. Silence and refusals are waited out. @throws the signal's reason. */
export async function follow(statusUrl: string, options: FollowOptions): Promise<unknown> {
  const { onStep, signal, pauseMs = PAUSE_MS } = options;
  let said = "";
  for (;;) {
    const answer = await ask({ method: "GET", url: statusUrl, body: undefined }, { signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      return { status: 503, json: { step: Problem.from(error).message } };
    });
    const status = answer.status === 200 ? textField(answer.json, "status") : undefined;
    if (status !== undefined && ENDS.includes(status)) return answer.json;
    const eta = field(answer.json, "eta_seconds");
    const step = printable(textField(answer.json, "step") ?? status ?? `status ${answer.status}`);
    if (step !== said) onStep(typeof eta === "number" ? `${step} (about ${eta} s left)` : step);
    said = step;
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** Why a job that has ended has delivered nothing, and what became of its payment; undefined when it has delivered. */
export function explainEnd(job: unknown): string | undefined {
  const status = textField(job, "status");
  if (status === "DELIVERED") return undefined;
  const refund = textField(job, "refund_tx");
  const isManual = textField(job, "refund_pending") === "manual";
  const money = refund ? `paid back in ${refund}` : isManual ? "the seller pays it back by hand" : undefined;
  return printable(`the job is ${status}: ${[textField(job, "error"), money].filter(Boolean).join("; ")}`);
}
