import { runInNewContext } from "node:vm";
import type { ValidationIssue } from "../api/problem.ts";
import { isObject, type JsonObject } from "../core/json.ts";
import { oncePer } from "../core/once.ts";
import type { InputLocation } from "../core/schema/issues.ts";
import { createCompiler, type Schema } from "../core/schema/validator.ts";
import { didYouMean } from "../core/set/did-you-mean.ts";

/** How long somebody else's schema may take: its patterns and references are their own, and could go on for ever. */
const CHECK_MS = 1000;

const compile = oncePer((document: JsonObject) => createCompiler(new Map(), { areForeign: true })(document));

/**
 * The faults of an input by somebody else's schema; none when the schema cannot be used.
 * @param options.seesTypos whether a field that it lets pass is a fault, too, where it looks like one which is missing
 */
export function findForeignFaults(
  document: unknown,
  given: object,
  from: InputLocation,
  { seesTypos = false } = {},
): readonly ValidationIssue[] {
  if (!isObject(document)) return [];
  try {
    const toIssues = (): readonly ValidationIssue[] => issuesOf(compile(document), { given, from, seesTypos });
    return runInNewContext("toIssues()", { toIssues }, { timeout: CHECK_MS });
  } catch {
    return [];
  }
}

interface Asked {
  readonly given: object;
  readonly from: InputLocation;
  readonly seesTypos: boolean;
}

function issuesOf(schema: Schema, asked: Asked): readonly ValidationIssue[] {
  const { given, from } = asked;
  const sent = from === "query" ? schema.coerce(given as Record<string, unknown>) : given;
  const { value, issues } = schema.check(sent, from);
  const own = issues.filter(({ type, loc }) => type === "missing" || isIn(sent, loc.slice(1)));
  return [...own, ...unknownFields(schema, value, { ...asked, given: sent })];
}

/** Whether there is a value at a place: a default that does not fit its own schema is no fault of the input. */
const isIn = (value: unknown, path: readonly (string | number)[]): boolean =>
  path.reduce((part, step) => (part as Readonly<Record<string, unknown>> | null | undefined)?.[step], value) !==
  undefined;

/** Fields that the schema does not know, if it forbids others or they may be typing errors. */
function unknownFields(
  { document: { properties = {}, additionalProperties } }: Schema,
  checked: unknown,
  { given, from, seesTypos }: Asked,
): readonly ValidationIssue[] {
  if (!isObject(properties) || !isObject(checked)) return [];
  const missing = Object.keys(properties).filter((name) => !Object.hasOwn(given, name));
  // What a schema knows elsewhere, as in `oneOf`, is in the checked copy.
  const unknown = Object.keys(given).filter(
    (name) => !Object.hasOwn(properties, name) && !Object.hasOwn(checked, name),
  );
  return unknown.flatMap((name) => {
    const meant = didYouMean(name, missing);
    return !(seesTypos && meant) && additionalProperties !== false
      ? []
      : [{ loc: [from, name], msg: `The service does not know this field${meant}`, type: "extra_forbidden" }];
  });
}
