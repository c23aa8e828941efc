import { Problem, type ProblemCode } from "../../api/problem.ts";
import { toDataHeaders } from "../request/headers.ts";
import type { Reply } from "./reply.ts";

/** Seconds after which to try again, for problems that pass and do not say when. */
const RETRY_AFTER: { readonly [Code in ProblemCode]?: number } = {
  "payment-in-progress": 1,
  "payment-conflict": 5,
  "rate-limited": 1,
  "upstream-failed": 5,
  "facilitator-unavailable": 5,
  "settlement-unknown": 5,
  unavailable: 5,
};

/** Whatever was thrown, as a Problem. Express marks the faults that it finds in a request with a 4xx `status`. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const status = error instanceof Error && "status" in error ? Number(error.status) : 500;
  if (status < 400 || status > 499) return Problem.from(error);
  return new Problem("bad-request", "The path is not valid percent-encoded UTF-8", { cause: error });
}

/** A problem as it is answered: HTTPValidationError (specification 2.17) or a problem document (RFC 9457). */
export function toProblemReply(problem: Problem, requestId?: string, headers: readonly string[] = []): Reply {
  const validation = problem.code === "invalid-input" && problem.options.issues !== undefined;
  const retryAfter = problem.options.retryAfter ?? RETRY_AFTER[problem.code];
  return {
    status: problem.status,
    headers: [
      ...toDataHeaders(validation ? "application/json" : "application/problem+json", "no-store"),
      ...(retryAfter === undefined ? [] : ["Retry-After", String(retryAfter)]),
      ...headers,
    ],
    body: JSON.stringify(validation ? problem : { ...problem.toJSON(), request_id: requestId }),
  };
}
