import { Problem } from "../../api/problem.ts";
import type { AnswerTerms } from "../../core/proxy/answer.ts";
import { type Conditioned, holds, readCondition } from "../../core/proxy/condition.ts";
import { messageOf } from "../../core/proxy/message.ts";
import { valueAt } from "../../core/proxy/pointer.ts";

/** Throws Problem `unparseable-input` when the answer itself reports a failure, as `failed` of the manifest says. */
export function createRefusal(terms: AnswerTerms = {}, title: string): (answer: Conditioned) => void {
  const failed = terms.failed === undefined ? undefined : readCondition(terms.failed);
  if (failed === undefined || typeof failed === "string") return () => {};
  return ({ status, body }) => {
    if (!holds(failed, { status, body })) return;
    const said = terms.error === undefined ? body : valueAt(body, terms.error);
    const reason = messageOf(null, typeof said === "string" ? said : (JSON.stringify(said) ?? ""));
    throw new Problem("unparseable-input", reason ? `${title}: ${reason}` : `${title} answered that it failed`);
  };
}
