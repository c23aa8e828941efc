import { Problem, type ValidationIssue } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import type { InputLocation } from "../../core/schema/issues.ts";
import { createCompiler, type Schema } from "../../core/schema/validator.ts";
import { didYouMean } from "../../core/set/did-you-mean.ts";
import { field, type SellerRequest, type SellerResponse } from "./http.ts";
import { toIssueLines } from "./text.ts";

/**
 * Checks a request against the schema in the challenge (x402 extension `bazaar`) before anything is signed. When the
 * seller gives no schema, or one that cannot be compiled, nothing is checked here.
 * @throws Problem `invalid-input` with one line for each fault.
 */
export function checkInput({ method, url, body }: SellerRequest, { json }: SellerResponse): void {
  const isQuery = method === "GET";
  const schema = compile(findSchema(json, isQuery ? "queryParams" : "body"));
  if (!schema) return;
  const from = isQuery ? "query" : "body";
  const given = isQuery
    ? schema.coerce(toTexts(new URL(url).searchParams))
    : body === undefined
      ? {}
      : JSON.parse(body);
  refuse(issuesOf(schema, given, from));
}

/**
 * Checks a tool's arguments against its input schema, as `checkInput` does. @throws Problem `invalid-input`.
 */
export function checkArguments(inputSchema: unknown, given: object): void {
  const schema = compile(inputSchema);
  if (schema) refuse(issuesOf(schema, given, "body"));
}

function issuesOf(schema: Schema, given: unknown, from: InputLocation): readonly ValidationIssue[] {
  const { issues } = schema.check(given, from);
  return issues.length > 0 ? issues : misspelled(schema, given, from);
}

/** Fields that the schema does not know and that look like one which is missing: sellers ignore unknown fields. */
function misspelled({ document }: Schema, given: unknown, from: InputLocation): readonly ValidationIssue[] {
  const { properties, patternProperties, additionalProperties } = document;
  if (!isObject(given) || !isObject(properties) || patternProperties || additionalProperties) return [];
  const missing = Object.keys(properties).filter((name) => !Object.hasOwn(given, name));
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(properties, name));
  return unknown.flatMap((name) => {
    const meant = didYouMean(name, missing);
    return meant === ""
      ? []
      : [{ loc: [from, name], msg: `The service does not know this field${meant}`, type: "extra_forbidden" }];
  });
}

function refuse(issues: readonly ValidationIssue[]): void {
  if (issues.length === 0) return;
  const lines = ["the input does not fit the service's schema:", ...toIssueLines(issues)];
  throw new Problem("invalid-input", `${lines.join("\n")}\nNothing was paid.`, {
    members: { faults: issues.map(toFault) },
  });
}

/** The schema of a part of the request in the extension. */
function findSchema(challenge: unknown, part: "body" | "queryParams"): unknown {
  const path = ["extensions", "bazaar", "schema", "properties", "input", "properties", part];
  return path.reduce<unknown>(field, challenge);
}

function compile(schema: unknown): Schema | undefined {
  if (!isObject(schema)) return undefined;
  try {
    return createCompiler(new Map())(schema);
  } catch {
    return undefined;
  }
}

/** The texts of a query by name: a list where a name is repeated. */
const toTexts = (query: URLSearchParams): Record<string, string | string[]> =>
  Object.fromEntries([...new Set(query.keys())].map((name) => [name, toOneOrAll(query.getAll(name))]));

const toOneOrAll = (texts: string[]): string | string[] => (texts.length === 1 ? (texts[0] as string) : texts);

const toFault = ({ loc, msg }: ValidationIssue) => ({ path: loc.join("."), message: msg });
