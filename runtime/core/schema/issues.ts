import type { ErrorObject } from "ajv";
import type { ValidationIssue } from "../../api/problem.ts";
import { isObject } from "../json.ts";
import { foldFaults } from "./fold-faults.ts";
import type { SchemaNodes } from "./nodes.ts";
import { toIssueTexts, valueError } from "./pydantic-issues.ts";

/** An answer must not grow with what a caller has sent, nor the work on it. */
const MOST_ISSUES = 100;
const MOST_ERRORS = 1000;
/** Characters of JSON, about: a longer `input` is left out. */
const LONGEST_INPUT = 4096;

/** Where the texts of a value come from decides what is said of those that fit no type. */
export type InputLocation = "body" | "query" | "path";

/**
 * What Ajv found, as pydantic v2 and FastAPI would report it: in the order of the schema's fields, with one issue for
 * each value, and with no issue for a branch that the value was never meant for.
 * @param errors of a run with `allErrors` and `verbose`. @param value as it was sent.
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

/** As FastAPI reports a request without a body. */
export const missingValue = (from: InputLocation): ValidationIssue => ({
  type: "missing",
  loc: [from],
  msg: "Field required",
  input: null,
});

/** `loc` and `input`. What is missing shows the object that it is missing from. */
function placeOf({ instancePath, keyword, params, propertyName }: ErrorObject, value: unknown, from: InputLocation) {
  const loc: (string | number)[] = [from];
  let input = value;
  const enter = (key: string): void => {
    loc.push(Array.isArray(input) ? Number(key) : key);
    input = isObject(input) || Array.isArray(input) ? (input as Record<string, unknown>)[key] : undefined;
  };
  for (const step of instancePath.split("/").slice(1)) enter(step.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (keyword === "required") loc.push(params.missingProperty);
  if (keyword === "additionalProperties") enter(params.additionalProperty);
  if (keyword === "unevaluatedProperties") enter(params.unevaluatedProperty);
  if (propertyName !== undefined) {
    loc.push(propertyName, "[key]");
    input = propertyName;
  }
  return { loc, input };
}

/** Measures each object once. */
function createMeasure(): (input: unknown) => boolean {
  const known = new Map<unknown, boolean>();
  return (input) => {
    const isShort = known.get(input) ?? (input !== undefined && sizeOf(input) <= LONGEST_INPUT);
    known.set(input, isShort);
    return isShort;
  };
}

/** The length of the JSON text, about; counting stops where it is too long. */
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
