import { Problem, type ValidationIssue } from "../../api/problem.ts";
import type { InputLocation } from "../../core/schema/issues.ts";
import { findForeignFaults } from "../../drivers/foreign-schema.ts";
import { field, type SellerRequest, type SellerResponse } from "./http.ts";
import { decodedChallenge } from "./offers.ts";
import { toIssueLines } from "./text.ts";

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

/** Sellers ignore fields that they do not know, or refuse them once they are paid. */
const check = (document: unknown, given: object, from: InputLocation): void =>
  refuse(findForeignFaults(document, given, from, { seesTypos: true }));

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
