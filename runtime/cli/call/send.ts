import { setTimeout as sleep } from "node:timers/promises";
import { Problem, type ProblemCode } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import { printable } from "../printable.ts";
import { ask, CALL_MS, type SellerResponse, textField } from "./http.ts";
import type { Pending } from "./pending.ts";
import { isDoubtful, receiptIn, settlementIn } from "./receipt.ts";

/** Problem codes of 5xx answers that are final: the payment will bring no result. */
const FINAL: readonly string[] = ["internal", "upstream-failed", "deadline-exceeded"] satisfies ProblemCode[];
const PASSING: readonly number[] = [408, 425, 429];

/** Whether the answer to a payment is final. If not, the same payment is sent again. */
export function isFinal({ status, json }: Pick<SellerResponse, "status" | "json">): boolean {
  const code = textField(json, "code") ?? "";
  if (code === "paid-not-delivered") return isObject(json) && "refund_tx" in json; // Refunded.
  if (status >= 500) return FINAL.includes(code);
  return !PASSING.includes(status) && code !== "payment-in-progress";
}

/** Whether the payment was paid back, so that asking again would bring nothing. */
export const isPaidBack = ({ json }: Pick<SellerResponse, "json">): boolean =>
  textField(json, "code") === "paid-not-delivered" && textField(json, "refund_tx") !== undefined;

/**
 * Whether an answer without a result is the seller's own: a receipt, a challenge, or JSON. A gateway before the seller answers
 * with pages, also while the seller is at work or after it has taken the payment.
 */
export const isSellers = ({ headers, json }: Pick<SellerResponse, "headers" | "json">): boolean =>
  isObject(json) || headers.has("payment-response") || headers.has("payment-required");

export interface FinalAnswer {
  readonly answer: SellerResponse;
  /**
   * Whether this is the answer to the first attempt. A refusal after an unknown outcome does not prove that nothing was
   * paid.
   */
  readonly isFirst: boolean;
}

interface SendTerms {
  readonly waitMs: number;
  /** Whether the payment has not been sent before. */
  readonly isNew: boolean;
  readonly signal: AbortSignal;
  readonly onWait: (why: string, seconds: number) => void;
}

/**
 * Sends a request with its payment until the answer is final. All attempts send the same payment, so it is charged at
 * most once.
 * @throws Problem `settlement-unknown` when the time is up or the signal is aborted.
 */
export async function sendPaid(
  { request, payment }: Pending,
  { waitMs, isNew, signal, onWait }: SendTerms,
): Promise<FinalAnswer> {
  const end = Date.now() + waitMs;
  let why = "";
  /** Whether every answer was a 429: then none of the calls was taken. */
  let isPutOff = isNew;
  for (let attempt = 0; ; attempt++) {
    let pauseMs = Math.min(1000 * 2 ** attempt, 10_000);
    try {
      const headers = { "payment-signature": payment };
      const answer = await ask(request, { headers, signal, timeoutMs: CALL_MS });
      const settlement = settlementIn(answer);
      if (isFinal(answer) && !isDoubtful(settlement)) return { answer, isFirst: attempt === 0 };
      isPutOff &&= answer.status === 429;
      const detail = textField(answer.json, "detail") ?? textField(settlement, "errorReason") ?? "";
      why = printable(`${answer.status} ${detail}`.trim() + toSettled(answer));
      pauseMs = retryAfterMs(answer) ?? pauseMs;
    } catch (error) {
      if (signal.aborted) throw unknown("interrupted");
      if (!(error instanceof Problem)) throw error;
      isPutOff = false;
      why = error.message;
    }
    if (Date.now() + pauseMs > end) throw isPutOff ? putOff(why) : unknown(why);
    onWait(why, pauseMs / 1000);
    await sleep(pauseMs, undefined, { signal }).catch(() => {
      throw unknown("interrupted");
    });
  }
}

/** The transaction of a receipt that comes with a failure: a seller may settle first. */
function toSettled(answer: SellerResponse): string {
  const receipt = receiptIn(answer);
  return receipt?.success && receipt.transaction ? `, with a receipt: settled in ${receipt.transaction}` : "";
}

/** `Retry-After` in milliseconds, at least 200; undefined when it is absent or a date. */
function retryAfterMs({ headers }: SellerResponse): number | undefined {
  const seconds = headers.get("retry-after") ?? "";
  return /^\d{1,5}$/.test(seconds) ? Math.max(Number(seconds) * 1000, 200) : undefined;
}

const putOff = (why: string): Problem =>
  new Problem("settlement-unknown", `the seller does not take the call yet, and has not charged it (${why})`);

const unknown = (why: string): Problem =>
  new Problem("settlement-unknown", `the payment was sent, and its result is not known yet (${why})`);
