import { isBroken, isJson, isSoapFault, lacksBody, READINGS, readBody, toOutput } from "../../core/proxy/answer.ts";
import { explainMedia, toFileType } from "../../core/proxy/media.ts";
import { readOutputFields } from "../../core/proxy/output-fields.ts";
import { toIssueText } from "../../core/schema/issues.ts";
import type { Schema } from "../../core/schema/validator.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import type { BytesAnswer } from "../upstream/attempt.ts";
import { toMisfit } from "./ask.ts";
import { createRefusal } from "./refusal.ts";

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
  const refuse = createRefusal(title, proxy.answer);
  const takesParts = proxy.charge_on?.includes(PART) || Object.keys(proxy.headers ?? {}).some(isRange);
  const fields = readOutputFields(output, proxy.answer);

  function check(made: unknown): ReturnType<Schema["check"]> {
    const checked = output.check(withAge(made, age), "body");
    const isStrange = checked.issues.length === 0 && fields.isStrange(made, checked.value);
    if (isStrange) throw toMisfit(title, new Error("the output names none of its fields"));
    return checked;
  }

  /** The output and its issues, in the first of `READINGS` that fits the schema, or else in the first of all. */
  function readAs(type: string | null, { status, body }: BytesAnswer): ReturnType<Schema["check"]> {
    const first = readBody(type, body);
    if (first === undefined)
      throw toMisfit(
        title,
        new Error(
          `it is an HTML page, not text, not the JSON that it says, cut off, or a stream with an error: ${type ?? "of no type"}, ${body.length} bytes`,
        ),
      );
    refuse({ status, body: first });
    if (proxy.answer?.wrap !== undefined && lacksBody(status, type, body)) return check({});
    const made = check(toOutput(first, proxy.answer));
    if (made.issues.length === 0 || isJson(type)) return made;
    const others = READINGS.slice(1).map((reading) => check(toOutput(readBody(type, body, reading), proxy.answer)));
    return others.find(({ issues }) => issues.length === 0) ?? made;
  }

  return (answer) => {
    const type = answer.headers.get("content-type");
    // JSON that can be parsed is whole: some APIs answer one page of a list with 206.
    if (answer.status === PART && !takesParts && !isJson(type)) throw toMisfit(title, new Error("it is a part (206)"));
    if (isSoapFault(type, answer.body)) throw toMisfit(title, new Error("it is a fault of SOAP"));
    const fault = media && explainMedia(media, type, answer.body);
    if (fault) throw toMisfit(title, new Error(fault));
    if (media && isBroken(type, answer.body)) throw toMisfit(title, new Error("it is broken, or cut off"));
    const { value, issues } = media
      ? check({ media: toFileType(media, type), data: answer.body.toString("base64") })
      : readAs(type, answer);
    if (issues.length > 0) throw toMisfit(title, new Error(toIssueText(issues)));
    return value;
  };
}

/** Partial Content (RFC 9110, section 15.3.7). */
const PART = 206;
const isRange = (header: string): boolean => header.toLowerCase() === "range";

const withAge = (made: unknown, age: { readonly age_seconds: number } | undefined): unknown =>
  age && typeof made === "object" && made !== null && !Array.isArray(made) ? { ...made, ...age } : made;
