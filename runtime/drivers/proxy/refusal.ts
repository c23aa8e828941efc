import { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import type { AnswerTerms } from "../../core/proxy/answer.ts";
import { type Conditioned, holds, readCondition } from "../../core/proxy/condition.ts";
import { messageIn } from "../../core/proxy/message.ts";
import { valueAt } from "../../core/proxy/pointer.ts";

/**
 * Throws Problem `unparseable-input` when the answer itself reports a failure, as `failed` of the manifest says, or as
 * GraphQL does.
 */
export function createRefusal(title: string, terms: AnswerTerms = {}): (answer: Conditioned) => void {
  const condition = terms.failed === undefined ? undefined : readCondition(terms.failed);
  const failed = typeof condition === "string" ? undefined : condition;
  return ({ status, body }) => {
    if (!hasErrorsForData(body) && !(failed && holds(failed, { status, body }))) return;
    const reason = messageIn(terms.error === undefined ? body : valueAt(body, terms.error));
    throw new Problem("unparseable-input", reason ? `${title}: ${reason}` : `${title} answered that it failed`);
  };
}

/** Errors because of which there are no data (GraphQL, section 7.1). */
const hasErrorsForData = (body: unknown): boolean =>
  isObject(body) && body.data === null && Array.isArray(body.errors) && body.errors.length > 0;
