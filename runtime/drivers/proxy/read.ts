import { Problem } from "../../api/problem.ts";
import { type AnswerTerms, lacksBody, readBody, toOutput } from "../../core/proxy/answer.ts";
import { holds, readCondition } from "../../core/proxy/condition.ts";
import { explainMedia, toMediaType } from "../../core/proxy/media.ts";
import { messageOf } from "../../core/proxy/message.ts";
import { valueAt } from "../../core/proxy/pointer.ts";
import { toIssueText } from "../../core/schema/issues.ts";
import type { Schema } from "../../core/schema/validator.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import type { BytesAnswer } from "../upstream/attempt.ts";
import { toMisfit } from "./ask.ts";

/** Converts an answer to the service's output. @throws Problem `upstream-failed` when it does not fit the schema. */
export type Read = (answer: BytesAnswer) => unknown;

export interface ReadOptions {
  readonly manifest: Manifest;
  readonly output: Schema;
  /** The source's name in errors. */
  readonly title: string;
}

/** Reads JSON, or a file when the service sells files. The age of a fresh answer is 0. */
export function createRead({ manifest, output, title }: ReadOptions): Read {
  const { media, proxy = {} } = manifest;
  const age = proxy.cache && { age_seconds: 0 };
  const refuse = createRefusal(proxy.answer, title);
  return ({ status, headers, body }) => {
    const type = headers.get("content-type");
    const fault = media && explainMedia(media, type, body);
    if (fault) throw toMisfit(title, new Error(fault));
    const read = media ? undefined : readBody(type, body);
    if (!media && read === undefined)
      throw toMisfit(title, new Error("it is an HTML page, not text, not the JSON that it says, or cut off"));
    if (!media) refuse(status, read);
    const isNothing = proxy.answer?.wrap !== undefined && lacksBody(status, type, body);
    const told = isNothing ? {} : toOutput(read, proxy.answer);
    const made = media ? { media: toMediaType(type), data: body.toString("base64") } : told;
    const { value, issues } = output.check(withAge(made, age), "body");
    if (issues.length > 0) throw toMisfit(title, new Error(toIssueText(issues)));
    return value;
  };
}

/** Throws a Problem when the answer itself reports a failure. */
function createRefusal(terms: AnswerTerms = {}, title: string): (status: number, answer: unknown) => void {
  const failed = terms.failed === undefined ? undefined : readCondition(terms.failed);
  if (failed === undefined || typeof failed === "string") return () => {};
  return (status, body) => {
    if (!holds(failed, { status, body })) return;
    const said = terms.error === undefined ? body : valueAt(body, terms.error);
    const reason = messageOf(null, typeof said === "string" ? said : (JSON.stringify(said) ?? ""));
    throw new Problem("unparseable-input", reason ? `${title}: ${reason}` : `${title} answered that it failed`);
  };
}

const withAge = (made: unknown, age: { readonly age_seconds: number } | undefined): unknown =>
  age && typeof made === "object" && made !== null && !Array.isArray(made) ? { ...made, ...age } : made;
