import { isObject, type JsonObject } from "../../core/json.ts";
import { PATHS } from "../../core/paths.ts";
import type { Service } from "../../core/service.ts";
import { OWN_SCHEMAS } from "../../surfaces/openapi/responses.ts";
import type { Findings, Place } from "./findings.ts";

/** The expectations for the documents of a set. */
export interface DocumentRules {
  readonly services: readonly Service[];
  /** The names of the set's schemas. */
  readonly names: Iterable<string>;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
}

/** Checks `/openapi.json`, which x402scan and AgentCash read. */
export function checkOpenApi(
  findings: Findings,
  document: JsonObject,
  { services, names, baseUrl }: DocumentRules,
): void {
  const at = findings.at(PATHS.openApi);
  const info = toObject(document.info);
  at.expect(String(document.openapi).startsWith("3.1."), "it must be OpenAPI 3.1");
  at.expect(isObject(info.contact), "info.contact is missing");
  const guidance = String(info["x-guidance"] ?? "");
  at.expect(guidance.length > 0 && guidance.length <= 4000, "info.x-guidance must have 1 to 4000 characters");
  const [server] = Array.isArray(document.servers) ? document.servers : [];
  at.expect(toObject(server).url === baseUrl, `servers[0].url must be ${baseUrl}`);
  for (const name of names)
    at.expect(
      !Object.hasOwn(OWN_SCHEMAS, name),
      `schemas/${name}.json must have another name: the description has a ${name} of its own`,
    );
  const paths = toObject(document.paths);
  checkOperationIds(at, paths);
  for (const { manifest, routes } of services)
    for (const [index, { method, path }] of routes.entries()) {
      const operation = toObject(toObject(paths[path])[method.toLowerCase()]);
      checkOperation(findings.at(`${PATHS.openApi} ${method} ${path}`), operation, {
        isPaid: manifest.price !== undefined,
        listedAt: index === 0 ? manifest.price : undefined,
      });
    }
}

function checkOperationIds(at: Place, paths: JsonObject): void {
  const operations = Object.values(paths).flatMap((item) => Object.values(toObject(item)));
  const ids = operations.map((operation) => toObject(operation).operationId);
  const doubled = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
  at.expect(doubled.length === 0, `operationId must be unique: ${doubled.join(", ")} stands there twice`);
}

/** The expectations for an operation; `listedAt` is the price that directories read, set for the main route only. */
interface OperationTerms {
  readonly isPaid: boolean;
  readonly listedAt: string | undefined;
}

function checkOperation(at: Place, operation: JsonObject, { isPaid, listedAt }: OperationTerms): void {
  const responses = toObject(operation.responses);
  const jsonOf = (part: unknown): JsonObject => toObject(toObject(toObject(part).content)["application/json"]);
  const [[media, answer] = ["", {}]] = Object.entries(toObject(toObject(responses["200"]).content)); // JSON, or a file.
  const payment = operation["x-payment-info"];
  const amount = String(toObject(toObject(payment).price).amount);
  at.expect(
    isObject(jsonOf(operation.requestBody).schema) || "parameters" in operation,
    "it has no schema of its input",
  );
  const { schema, examples } = toObject(answer);
  at.expect(isObject(schema), "it has no schema of its 200 answer");
  const isShown = media === "application/json" && isObject(schema);
  at.warn(!isShown || isObject(examples), "it has no example of its 200 answer: give one an `output`");
  at.expect(Array.isArray(operation.security) && operation.security.length === 0, "security must be an empty list");
  at.expect(!isPaid || "402" in responses, "it has no 402 response");
  const unlisted = isPaid ? "it is another form of a listed service" : "it is free";
  if (listedAt === undefined) at.expect(payment === undefined, `${unlisted}, and must have no x-payment-info`);
  else
    at.expect(
      /^\d+\.\d{6,}$/.test(amount) && Number(amount) === Number(listedAt),
      `x-payment-info must say ${listedAt} USD with six decimals`,
    );
}

/** Checks `/.well-known/x402`, whose `resources` older directories read. */
export function checkWellKnown(findings: Findings, document: JsonObject, { services, baseUrl }: DocumentRules): void {
  const at = findings.at(PATHS.discovery);
  const paid = services.filter(({ manifest }) => manifest.price !== undefined).map(({ path }) => baseUrl + path);
  at.expect(document.x402Version === 2, "x402Version must be 2");
  at.expect(
    JSON.stringify(document.resources) === JSON.stringify(paid),
    "resources must be the URLs of all paid services",
  );
}

/** Checks the server card against MCP's registry (server.json, schema of 2025-12-11). */
export function checkServerCard(findings: Findings, card: JsonObject): void {
  const at = findings.at(PATHS.serverCard);
  const [remote] = Array.isArray(card.remotes) ? card.remotes : [];
  const description = String(card.description ?? "");
  at.expect(
    /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(String(card.name)),
    "name must be reverse DNS, a slash and a name",
  );
  at.expect(description.length > 0 && description.length <= 100, "description must have 1 to 100 characters");
  at.expect(/^\d+\.\d+\.\d+$/.test(String(card.version)), "version must be three numbers");
  at.expect(toObject(remote).type === "streamable-http", "remotes must name the streamable HTTP endpoint");
}

const toObject = (value: unknown): JsonObject => (isObject(value) ? value : {});
