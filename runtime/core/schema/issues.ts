import type { ErrorObject } from "ajv";
import type { ValidationIssue } from "../../api/problem.ts";
import { isObject, unescapeStep } from "../json.ts";
import { foldFaults } from "./fold-faults.ts";
import { type SchemaNodes, toPathText } from "./nodes.ts";
import { toIssueTexts, valueError } from "./pydantic-issues.ts";

/** The most issues of an answer, whatever a caller sends. */
const MOST_ISSUES = 100;
const MOST_ERRORS = 1000;
/** Approximate characters of JSON; a longer `input` is omitted from its issue. */
const LONGEST_INPUT = 4096;

/** The part of a request that contains a value. Query and path texts of a wrong type have their own messages. */
export type InputLocation = "body" | "query" | "path";

/**
 * Ajv's errors as pydantic v2 and FastAPI would report them: in the order of the schema's fields, one issue per value,
 * and no issue for branches of another type.
 * @param errors from a run with `allErrors` and `verbose` @param value as it was sent
 */
export function toIssues(
  errors: readonly ErrorObject[],
  { value, from, document, nodes }: { value: unknown; from: InputLocation; document: object; nodes: SchemaNodes },
): ValidationIssue[] {
  const found = new Map<string, ValidationIssue>();
  const isShort = createMeasure();
  for (const { error, sentence } of foldFaults(errors.slice(0, MOST_ERRORS), nodes)) {
    const { loc, input } = placeOf(error, value, from);
    for (const issueText of sentence === undefined ? toIssueTexts(error, from !== "body") : [valueError(sentence)]) {
      const { type, msg, ctx } = issueText;
      found.set(JSON.stringify([loc, type, msg]), {
        type,
        loc,
        msg,
        ...(isShort(input) && { input }),
        ...(ctx && { ctx }),
      });
    }
  }
  const order = Object.keys((document as { properties?: object }).properties ?? {});
  const rankOf = ({ loc: [, name] }: ValidationIssue): number => {
    const at = order.indexOf(String(name));
    return name === undefined || at < 0 ? order.length : at;
  };
  return [...found.values()].sort((one, other) => rankOf(one) - rankOf(other)).slice(0, MOST_ISSUES);
}

/** The first issues of an answer, for logs and sellers: `rates[0].id: Input should be a valid integer; name: …`. */
export const toIssueText = (issues: readonly ValidationIssue[]): string =>
  issues
    .slice(0, 5)
    .map(({ loc, msg }) => `${toField(loc) || "the whole"}: ${msg}`)
    .join("; ");

/** The field of an issue, like `rates[0].id`: its location without the first step. Empty for the whole value. */
export const toField = ([, ...path]: ValidationIssue["loc"]): string => toPathText(path);

/** The issue that FastAPI reports for a request without a body. */
export const missingValue = (from: InputLocation): ValidationIssue => ({
  type: "missing",
  loc: [from],
  msg: "Field required",
  input: null,
});

/** The `loc` and `input` of an error. For a missing field, `input` is the object that lacks it. */
function placeOf({ instancePath, keyword, params, propertyName }: ErrorObject, value: unknown, from: InputLocation) {
  const loc: (string | number)[] = [from];
  let input = value;
  const enter = (key: string): void => {
    loc.push(Array.isArray(input) ? Number(key) : key);
    input = isObject(input) || Array.isArray(input) ? (input as Record<string, unknown>)[key] : undefined;
  };
  for (const step of instancePath.split("/").slice(1)) enter(unescapeStep(step));
  if (keyword === "required") loc.push(params.missingProperty);
  if (keyword === "additionalProperties") enter(params.additionalProperty);
  if (keyword === "unevaluatedProperties") enter(params.unevaluatedProperty);
  if (propertyName !== undefined) {
    loc.push(propertyName, "[key]");
    input = propertyName;
  }
  return { loc, input };
}

/** Returns a cached test whether a value is short enough to be shown. */
function createMeasure(): (input: unknown) => boolean {
  const known = new Map<unknown, boolean>();
  return (input) => {
    const isShort = known.get(input) ?? isShown(input);
    known.set(input, isShort);
    return isShort;
  };
}

/** Whether a value is short enough to be included in an issue. */
export const isShown = (input: unknown): boolean => input !== undefined && sizeOf(input) <= LONGEST_INPUT;

/** The approximate length of the JSON text; counting stops above the limit. */
function sizeOf(value: unknown): number {
  let size = 0;
  const waiting = [value];
  while (waiting.length > 0 && size <= LONGEST_INPUT) {
    const next = waiting.pop();
    size += typeof next === "string" ? next.length + 2 : 4;
    if (Array.isArray(next)) for (const item of next.slice(0, LONGEST_INPUT)) waiting.push(item);
    else if (isObject(next)) {
      for (const key in next) {
        size += key.length + 3;
        waiting.push(next[key]);
        if (size > LONGEST_INPUT) break;
      }
    }
  }
  return size;
}
