import { Problem, type ProblemCode } from "../../api/problem.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import { type BroughtPayment, toReceiptHeaders } from "../../surfaces/http/payment-headers.ts";
import { toDataHeaders } from "./headers.ts";
import type { Reply } from "./reply.ts";

/** Default `Retry-After`, in seconds, of temporary problems. */
const RETRY_AFTER: { readonly [Code in ProblemCode]?: number } = {
  "payment-in-progress": 1,
  "payment-conflict": 5,
  "rate-limited": 1,
  "upstream-failed": 5,
  "facilitator-unavailable": 5,
  "settlement-unknown": 5,
  unavailable: 5,
};

/** The Problem for a thrown value. Express gives a status to a path that it cannot decode; libraries do to other errors. */
export function toRequestProblem(error: unknown): Problem {
  if (!(error instanceof URIError && "status" in error)) return Problem.from(error);
  return new Problem("bad-request", "The path is not valid percent-encoded UTF-8", { cause: error });
}

/** The reply to a problem: FastAPI's HTTPValidationError for faults of the input, otherwise a problem document (RFC 9457). */
export function toProblemReply(
  problem: Problem,
  requestId?: string,
  headers: readonly string[] = [],
  payment?: BroughtPayment,
): Reply {
  const validation = problem.code === "invalid-input" && problem.options.issues !== undefined;
  const retryAfter = problem.options.retryAfter ?? RETRY_AFTER[problem.code];
  const receipt = problem.options.receipt as SettleResponse | undefined; // Only set after a settlement.
  return {
    status: problem.status,
    headers: [
      ...toDataHeaders(validation ? "application/json" : "application/problem+json", "no-store"),
      ...(retryAfter === undefined ? [] : ["Retry-After", String(retryAfter)]),
      ...(receipt ? Object.entries(toReceiptHeaders(receipt, payment)).flat() : []),
      ...headers,
    ],
    body: JSON.stringify(validation ? problem : { ...problem.toJSON(), request_id: requestId }),
  };
}
