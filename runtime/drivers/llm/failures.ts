import { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import { retryAfterOf } from "./client.ts";

/** Whether the endpoint refuses our credentials, so that the operator must act. */
export const isForbidden = (error: unknown): boolean => [401, 403].includes(statusOf(error) ?? 0);

/** The Problem that callers get for a failure; the endpoint's own words appear only in the log. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const { cause, headers } = isObject(error) ? error : {};
  if (cause instanceof Problem) return cause; // Already a Problem of the transport.
  const retryAfter = headers instanceof Headers ? retryAfterOf(headers) : undefined;
  return new Problem("upstream-failed", toSentence(error), { cause: error, ...(retryAfter && { retryAfter }) });
}

function toSentence(error: unknown): string {
  const status = statusOf(error);
  if (status === 429) return "The language model is busy";
  if (isForbidden(error)) return "The language model does not accept our credentials";
  if (status !== undefined) return `The language model answered with status ${status}`;
  return "The language model did not answer";
}

const statusOf = (error: unknown): number | undefined =>
  isObject(error) && typeof error.status === "number" ? error.status : undefined;
