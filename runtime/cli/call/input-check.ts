import { runInNewContext } from "node:vm";
import { Problem, type ValidationIssue } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import type { InputLocation } from "../../core/schema/issues.ts";
import { createCompiler, type Schema } from "../../core/schema/validator.ts";
import { didYouMean } from "../../core/set/did-you-mean.ts";
import { field, type SellerRequest, type SellerResponse } from "./http.ts";
import { decodedChallenge } from "./offers.ts";
import { toIssueLines } from "./text.ts";

/** How long a seller's schema may take: its patterns and references are the seller's own, and could go on for ever. */
const CHECK_MS = 1000;

/**
 * Checks a request against the schema in the challenge (x402 extension `bazaar`) before anything is signed. When the
 * seller gives no schema, or one that cannot be used, nothing is checked here.
 * @throws Problem `invalid-input` with one line for each fault.
 */
export function checkInput({ method, url, body }: SellerRequest, { headers, json }: SellerResponse): void {
  const isQuery = method === "GET";
  const header = headers.get("payment-required");
  // A stock seller says it in the header only; ours says all of it in the body.
  const schema = findFields(json, method) ?? findFields(header && decodedChallenge(header), method);
  const given = isQuery ? toTexts(new URL(url).searchParams) : body === undefined ? {} : JSON.parse(body);
  check(schema, given, isQuery ? "query" : "body");
}

/**
 * Checks a tool's arguments against its input schema, as `checkInput` does. @throws Problem `invalid-input`.
 */
export const checkArguments = (inputSchema: unknown, given: object): void => check(inputSchema, given, "body");

function check(document: unknown, given: object, from: InputLocation): void {
  if (!isObject(document)) return;
  let issues: readonly ValidationIssue[];
  try {
    const compile = createCompiler(new Map(), { areForeign: true });
    const toIssues = (): typeof issues => issuesOf(compile(document), given, from);
    issues = runInNewContext("toIssues()", { toIssues }, { timeout: CHECK_MS });
  } catch {
    return;
  }
  refuse(issues);
}

function issuesOf(schema: Schema, given: object, from: InputLocation): readonly ValidationIssue[] {
  const sent = from === "query" ? schema.coerce(given as Record<string, unknown>) : given;
  const { value, issues } = schema.check(sent, from);
  const own = issues.filter(({ type, loc }) => type === "missing" || isIn(sent, loc.slice(1)));
  return [...own, ...unknownFields(schema, sent, value, from)];
}

/** Whether there is a value at a place: a default that does not fit its own schema is no fault of the input. */
const isIn = (value: unknown, path: readonly (string | number)[]): boolean =>
  path.reduce((part, step) => field(part, String(step)), value) !== undefined;

/**
 * Fields that the schema does not know, if it forbids others or they look like one which is missing: sellers ignore unknown
 * fields, or refuse them once they are paid.
 */
function unknownFields(
  { document: { properties = {}, additionalProperties } }: Schema,
  given: object,
  checked: unknown,
  from: InputLocation,
): readonly ValidationIssue[] {
  if (!isObject(properties) || !isObject(checked)) return [];
  const missing = Object.keys(properties).filter((name) => !Object.hasOwn(given, name));
  // What a schema knows elsewhere, as in `oneOf`, is in the checked copy.
  const unknown = Object.keys(given).filter(
    (name) => !Object.hasOwn(properties, name) && !Object.hasOwn(checked, name),
  );
  return unknown.flatMap((name) => {
    const meant = didYouMean(name, missing);
    return meant === "" && additionalProperties !== false
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

/** The schema of a request's fields in the extension. It may describe another method, whose fields are the same. */
function findFields(challenge: unknown, method: string): unknown {
  const bazaar = ["extensions", "bazaar"].reduce<unknown>(field, challenge);
  const described = ["info", "input", "method"].reduce<unknown>(field, bazaar) ?? method;
  const part = described === "GET" ? "queryParams" : "body";
  return ["schema", "properties", "input", "properties", part].reduce<unknown>(field, bazaar);
}

/** The texts of a query by name: a list where a name is repeated. */
const toTexts = (query: URLSearchParams): Record<string, string | string[]> =>
  Object.fromEntries([...new Set(query.keys())].map((name) => [name, toOneOrAll(query.getAll(name))]));

const toOneOrAll = (texts: string[]): string | string[] => (texts.length === 1 ? (texts[0] as string) : texts);

const toFault = ({ loc, msg }: ValidationIssue) => ({ path: loc.join("."), message: msg });
