import { readBody, toOutput } from "../../core/proxy/answer.ts";
import { explainMedia, toMediaType } from "../../core/proxy/media.ts";
import type { Schema } from "../../core/schema/validator.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import type { BytesAnswer } from "../upstream/attempt.ts";
import { toMisfit } from "./ask.ts";

/** Makes an answer the service's output. @throws Problem `upstream-failed` when it does not fit the service's schema. */
export type Read = (answer: BytesAnswer) => unknown;

export interface ReadOptions {
  readonly manifest: Manifest;
  readonly output: Schema;
  /** The source's name in errors. */
  readonly title: string;
}

/** Reads JSON, or a file where the service sells one. The age of an answer is 0. */
export function createRead({ manifest, output, title }: ReadOptions): Read {
  const { media, proxy = {} } = manifest;
  const age = proxy.cache && { age_seconds: 0 };
  return ({ headers, body }) => {
    const type = headers.get("content-type");
    const fault = media && explainMedia(media, type, body);
    if (fault) throw toMisfit(title, new Error(fault));
    const made = media
      ? { media: toMediaType(type), data: body.toString("base64") }
      : toOutput(readBody(type, body.toString()), proxy.answer);
    const { value, issues } = output.check(withAge(made, age), "body");
    if (issues.length > 0) throw toMisfit(title, new Error(JSON.stringify(issues.slice(0, 5))));
    return value;
  };
}

const withAge = (made: unknown, age: { readonly age_seconds: number } | undefined): unknown =>
  age && typeof made === "object" && made !== null && !Array.isArray(made) ? { ...made, ...age } : made;
