import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import { printable } from "../printable.ts";
import { ask, field, type SellerResponse, textField, toExactJson } from "./http.ts";

/** The time between two polls. payphone allows two polls a second for each job. */
const PAUSE_MS = 2000;
/** Polling ends after this many polls in a row, a minute, without a status or a reason to wait: a 404, for example. */
const MOST_UNTOLD = 30;
/** As many, ten minutes or longer, may give no status for another reason, or the same answer with a status of other sellers. */
const MOST_SAME = 300;
/** Also in other cases, as MCP and A2A have them. */
const DONE = ["DELIVERED", "COMPLETED", "SUCCEEDED"];
const ENDS = [...DONE, "FAILED", "UNKNOWN", "CANCELED", "CANCELLED", "REJECTED", "ERROR", "EXPIRED"];
const GOES_ON = ["DISPATCHING", "IN_PROGRESS"];

type Polled = Pick<SellerResponse, "status" | "text" | "json">;

export interface FollowOptions {
  /** Called with the job's step and estimate whenever the step changes. */
  readonly onStep: (text: string) => void;
  readonly signal: AbortSignal;
  readonly pauseMs?: number;
  /** How long it is followed at most; until its end when omitted. */
  readonly mostSeconds?: number | undefined;
}

/** A call that has a result. */
interface Called {
  readonly request?: { readonly method: string; readonly url: string };
  readonly payment?: unknown;
}

/**
 * The status URL of an accepted job, if the URL has the seller's origin; undefined for other results. The free status of a job
 * is followed at its own URL.
 */
export function toStatusUrl(result: unknown, { request, payment }: Called, isFollowed: boolean): string | undefined {
  if (!request) return undefined;
  const url = URL.parse(textField(result, "status_url") ?? "");
  const status = textField(result, "status") ?? "";
  if (status === "accepted") return url?.origin === new URL(request.url).origin ? url.href : undefined;
  const isStatus = textField(result, "job_id") !== undefined && [...GOES_ON, ...ENDS].includes(status);
  return isFollowed && isStatus && request.method === "GET" && !payment ? request.url : undefined;
}

/**
 * Polls a job until it has ended, and returns its last status. Failed polls are repeated. @throws the signal's reason, Problem
 * `upstream-failed` when the URL gives no status for good, or `settlement-unknown` when the time is up.
 */
export async function follow(statusUrl: string, options: FollowOptions): Promise<unknown> {
  const { onStep, signal, pauseMs = PAUSE_MS, mostSeconds = Number.POSITIVE_INFINITY } = options;
  const began = performance.now();
  let said = "";
  let untold = 0;
  let same = 0;
  let before = "";
  for (;;) {
    const request = { method: "GET", url: statusUrl, body: undefined };
    const answer: Polled = await ask(request, { signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      return { status: 0, text: "", json: { step: Problem.from(error).message } };
    });
    const status = answer.status === 200 ? textField(answer.json, "status") : undefined;
    if (status !== undefined && ENDS.includes(status.toUpperCase())) return toExactJson(answer);
    const mayPass = answer.status === 0 || answer.status >= 500 || answer.status === 429;
    untold = status !== undefined || mayPass ? 0 : untold + 1;
    const isTold = status !== undefined && (GOES_ON.includes(status) || answer.text !== before);
    same = isTold ? 0 : same + 1;
    if (status !== undefined) before = answer.text;
    if (untold === MOST_UNTOLD || same === MOST_SAME) throw toEndless(statusUrl, answer, status);
    const eta = field(answer.json, "eta_seconds");
    const step = printable(textField(answer.json, "step") ?? status ?? `status ${answer.status}`);
    if (step !== said) onStep(typeof eta === "number" ? `${step} (about ${eta} s left)` : step);
    said = step;
    if (performance.now() - began + pauseMs > mostSeconds * 1000)
      throw new Problem("settlement-unknown", toLate(statusUrl, step));
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

const toLate = (url: string, step: string): string =>
  printable(`the job has not ended in the time that --wait allows (${step}). It goes on: ${url} shows how it stands`);

/** @param status undefined where the answer has none; otherwise one that has stayed the same */
function toEndless(url: string, { status: code, json }: Polled, status: string | undefined): Problem {
  const why = code === 0 ? textField(json, "step") : `HTTP ${code}`;
  const [what, end] =
    status === undefined
      ? [`gives no status (${why})`, "The job may go on"]
      : [`has said "${status}" for ten minutes`, "That may be the job's end, or it may go on"];
  return new Problem("upstream-failed", printable(`${url} ${what}. ${end}: ask again later, or ask the seller`));
}

/** Why an ended job delivered nothing, and whether it was refunded; undefined when it delivered. */
export function explainEnd(job: unknown, statusUrl: string): string | undefined {
  const status = textField(job, "status");
  if (DONE.includes(status?.toUpperCase() ?? "")) return undefined;
  const refund = textField(job, "refund_tx");
  const isManual = textField(job, "refund_pending") === "manual";
  // A refund takes some seconds, and some services make none: both are null.
  const isOpen = status === "FAILED" && field(job, "refund_tx") === null;
  const later = isOpen ? `whether it is paid back, ${statusUrl} will tell` : undefined;
  const money = refund ? `paid back in ${refund}` : isManual ? "the seller pays it back by hand" : later;
  return printable(`the job is ${status}: ${[textField(job, "error"), money].filter(Boolean).join("; ")}`);
}
