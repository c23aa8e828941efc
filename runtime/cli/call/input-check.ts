import { Problem, type ValidationIssue } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import { createCompiler, type Schema } from "../../core/schema/validator.ts";
import { field, type SellerRequest, type SellerResponse } from "./http.ts";
import { toIssueLines } from "./text.ts";

/**
 * Holds a request against the schema in the challenge (x402 extension `bazaar`), before anything is signed. A seller
 * without such a schema, or with one that cannot be compiled, is left to check its input itself.
 * @throws Problem `invalid-input` with one line for each fault.
 */
export function checkInput({ method, url, body }: SellerRequest, { json }: SellerResponse): void {
  const isQuery = method === "GET";
  const schema = compile(findSchema(json, isQuery ? "queryParams" : "body"));
  if (!schema) return;
  const { issues } = isQuery
    ? schema.check(schema.coerce(Object.fromEntries(new URL(url).searchParams)), "query")
    : schema.check(body === undefined ? {} : JSON.parse(body), "body");
  if (issues.length === 0) return;
  const lines = ["the input does not fit the service's schema:", ...toIssueLines(issues)];
  throw new Problem("invalid-input", `${lines.join("\n")}\nNothing was paid.`, {
    members: { faults: issues.map(toFault) },
  });
}

/** Where the extension keeps the schema of a request's part. */
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

const toFault = ({ loc, msg }: ValidationIssue) => ({ path: loc.join("."), message: msg });
