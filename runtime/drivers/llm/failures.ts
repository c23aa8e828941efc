import { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import type { Gate } from "../upstream/gate.ts";
import { retryAfterOf } from "./client.ts";

/** Whether the endpoint refuses our credentials, so that the operator must act. */
export const isForbidden = (error: unknown): boolean => [401, 403].includes(statusOf(error) ?? 0);

/** Whether the operator's account has run out of credit: 402, or OpenAI's 429 with the code `insufficient_quota`. */
const isUnpaid = (error: unknown): boolean =>
  statusOf(error) === 402 || (isObject(error) && error.code === "insufficient_quota");

const REFUSED_MS = 60_000;
const LONGEST_REST_MS = 10 * 60_000;

/**
 * Records a failure that concerns the next question, too: a refused credential, an account without money, a pause that
 * was asked for, an outage.
 * @param begun when the question was asked
 * @returns false for a 403 and other refusals, which may concern one text alone
 */
export function noteSilence(gate: Gate, error: unknown, begun: number): boolean {
  const status = statusOf(error);
  const { options } = toProblem(error);
  if (options.cause !== error) return false; // It was a Problem already: the endpoint answered, or was not asked.
  if (status === undefined) gate.fail();
  else if (status === 429 && options.retryAfter) gate.rest(Math.min(1000 * options.retryAfter, LONGEST_REST_MS));
  else if (status === 401 || isUnpaid(error)) gate.rest(REFUSED_MS);
  else if (status >= 500 || status === 429 || status === 404) gate.fail(begun);
  else return false;
  return true;
}

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
