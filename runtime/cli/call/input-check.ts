import { Problem, type ValidationIssue } from "../../api/problem.ts";
import { isCollection } from "../../core/json.ts";
import type { InputLocation } from "../../core/schema/issues.ts";
import { findForeignFaults } from "../../drivers/foreign-schema.ts";
import { field, type SellerResponse } from "./http.ts";
import { decodedChallenge } from "./offers.ts";
import type { Target } from "./target.ts";
import { toIssueLines } from "./text.ts";

/**
 * Checks a request against the schema in the challenge (x402 extension `bazaar`) before anything is signed. When the
 * seller gives no schema, or one that cannot be used, nothing is checked here.
 * @throws Problem `invalid-input` with one line for each fault.
 */
export function checkInput(
  { request: { method, url, body }, inPath, inQuery }: Pick<Target, "request" | "inPath" | "inQuery">,
  { headers, json }: SellerResponse,
): void {
  const isQuery = method === "GET";
  const header = headers.get("payment-required");
  // A stock seller says it in the header only; ours says all of it in the body.
  const shown = [json, header && decodedChallenge(header)];
  const [path, rest] = [findPathFields, findFields].map((find) => find(shown[0], method) ?? find(shown[1], method));
  const texts = toTexts(new URL(url).searchParams);
  const isInPath = Object.keys(inPath).length > 0;
  refuse([
    // Texts, as those of a query.
    ...(isInPath ? faultsOf(path, inPath, "query").filter(isOfValue).map(toFaultIn("path")) : []),
    ...(isQuery
      ? queryFaultsOf(rest, texts, inQuery)
      : faultsOf(rest, body === undefined ? {} : JSON.parse(body), "body")),
  ]);
}

/**
 * The faults of a query, and of lists and mappings that were given for a text or a number: the query has each of them as one
 * text. A list of one is looked at with its text twice, too, since a name that comes twice is a list of texts.
 */
function queryFaultsOf(document: unknown, texts: Texts, given: Target["inQuery"]): readonly ValidationIssue[] {
  const faults = faultsOf(document, texts, "query");
  const found = new Set(faults.map(toName));
  const single = Object.entries(given).filter(
    ([name, value]) => isCollection(value) && typeof texts[name] === "string" && !found.has(name),
  );
  const lists = single.filter(([, value]) => Array.isArray(value) && !value.some(Array.isArray));
  const twice = Object.fromEntries(lists.map(([name]) => [name, [texts[name], texts[name]]]));
  const ofKind = (fields: object, from: InputLocation): readonly ValidationIssue[] =>
    findForeignFaults(document, fields, from).filter(({ type, loc }) => loc.length === 2 && OF_KIND.test(type));
  const refused = new Set(ofKind(twice, "query").map(toName));
  const wrong = ofKind(Object.fromEntries(single), "body").filter(
    (issue) => refused.has(toName(issue)) || !Object.hasOwn(twice, toName(issue)),
  );
  return [...faults, ...wrong.map(toFaultIn("query"))];
}

const toName = ({ loc: [, name] }: ValidationIssue): string => String(name);

/** The faults of values of another kind. */
const OF_KIND = /_type$|^literal_error$/;

/**
 * Checks a tool's arguments against its input schema, as `checkInput` does. @throws Problem `invalid-input`.
 */
export const checkArguments = (inputSchema: unknown, given: object): void =>
  refuse(faultsOf(inputSchema, given, "body"));

/** Sellers ignore fields that they do not know, or refuse them once they are paid. */
const faultsOf = (document: unknown, given: object, from: InputLocation): readonly ValidationIssue[] =>
  findForeignFaults(document, given, from, { seesTypos: true });

/** An address may have other parts written out, be given with names of the buyer's own, and have some in its query. */
const isOfValue = ({ type }: ValidationIssue): boolean => type !== "missing" && type !== "extra_forbidden";

const toFaultIn =
  (place: string) =>
  ({ loc: [, ...field], ...issue }: ValidationIssue): ValidationIssue => ({ ...issue, loc: [place, ...field] });

function refuse(issues: readonly ValidationIssue[]): void {
  if (issues.length === 0) return;
  const lines = ["the input does not fit the service's schema:", ...toIssueLines(issues)];
  throw new Problem("invalid-input", `${lines.join("\n")}\nNothing was paid.`, {
    members: { faults: issues.map(toFault) },
  });
}

/** The schema of a request's fields in the extension. It may describe another method, whose fields are the same. */
function findFields(challenge: unknown, method: string): unknown {
  const described = ["extensions", "bazaar", "info", "input", "method"].reduce<unknown>(field, challenge) ?? method;
  return findPart(challenge, described === "GET" ? "queryParams" : "body");
}

const findPathFields = (challenge: unknown): unknown => findPart(challenge, "pathParams");

const findPart = (challenge: unknown, part: string): unknown =>
  ["extensions", "bazaar", "schema", "properties", "input", "properties", part].reduce<unknown>(field, challenge);

/** The texts of a query by name: a list where a name is repeated. */
type Texts = Readonly<Record<string, string | string[]>>;

const toTexts = (query: URLSearchParams): Texts =>
  Object.fromEntries([...new Set(query.keys())].map((name) => [name, toOneOrAll(query.getAll(name))]));

const toOneOrAll = (texts: string[]): string | string[] => (texts.length === 1 ? (texts[0] as string) : texts);

const toFault = ({ loc, msg }: ValidationIssue) => ({ path: loc.join("."), message: msg });
