import { isObject, type JsonObject } from "../../core/json.ts";
import type { Service } from "../../core/service.ts";
import { toAcceptedExample, toStatusId } from "../../core/set/job-manifests.ts";
import { mediaOf } from "../../core/set/manifest.ts";
import { parametersOf, type Route } from "../../core/set/route.ts";
import { isKept, KEPT, toQuota } from "../rpc/cost.ts";
import { toFileSchema } from "../schema/file.ts";
import { withAllFields } from "../schema/joined.ts";
import { splitInput, splitSchema } from "../schema/path-fields.ts";
import { createSchemaInliner } from "../schema/self-contained.ts";
import type { ShownSet } from "../schema/shown-set.ts";
import { toQueryStyle } from "./query-style.ts";
import { toErrorResponses, toReceiptHeader } from "./responses.ts";
import { type Components, createComponents, seemsToRefer } from "./schemas.ts";

/** The operations by path and method, and the schemas that they refer to. */
export interface Operations {
  readonly paths: Readonly<Record<string, JsonObject>>;
  readonly schemas: ReturnType<Components["list"]>;
}

/** An operation for each route of each service: the main route by the service's id, an alias by `<id>_get` or `<id>_post`. */
export function toOperations({ services, schemas, baseUrl }: Omit<ShownSet, "site">): Operations {
  const components = createComponents(schemas);
  const inline = createSchemaInliner(services, schemas);
  const ids = new Set(services.map(({ manifest }) => manifest.id));
  const paths: Record<string, JsonObject> = {};
  for (const service of services) {
    const input = inline(service.input.document);
    const inputs = { POST: input, GET: withAllFields(input) }; // A query has fields alone.
    const output = toFileSchema(service.manifest) ?? components.refer(service.manifest, "output");
    for (const route of service.routes) {
      const head = toHead(service, route, ids);
      const operation = {
        ...head,
        ...toInput(service, route, inputs[route.method], components),
        ...toAnswers(service, route, { schema: output, examples: toShown(service, baseUrl) }),
      };
      paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
    }
  }
  return { paths, schemas: components.list() };
}

/** The category of services without a category. */
export const OTHER = "other";

/** Directories list operations with `x-payment-info`. Only the main route has it, so that a service is listed once. */
function toHead({ manifest, routes: [main, ...aliases] }: Service, route: Route, ids: ReadonlySet<string>): JsonObject {
  const { id, title, description, category, price } = manifest;
  const isMain = route === main;
  const forms = isMain
    ? aliases.map(({ method }) => `Also answers ${method}: operation \`${toAliasId(id, method, ids)}\`.`)
    : [`The ${route.method} form of \`${id}\`, with the same fields and price.`];
  return {
    operationId: isMain ? id : toAliasId(id, route.method, ids),
    summary: isMain ? title : `${title} (${route.method})`,
    description: [description, ...toFree(manifest), ...(isKept(manifest) ? [KEPT] : []), ...forms].join(" "),
    tags: [category ?? OTHER],
    security: [],
    ...(isMain && price !== undefined && { "x-payment-info": toPaymentInfo(price) }),
  };
}

/** `toss_get`, or a longer id when a service has that id. */
function toAliasId(id: string, method: string, taken: ReadonlySet<string>): string {
  let name = `${id}_${method.toLowerCase()}`;
  while (taken.has(name)) name += "_form";
  return name;
}

const toFree = ({ free, sign_in: needsSignIn }: Service["manifest"]): string[] => [
  ...(free ? [`A wallet that signs in (header SIGN-IN-WITH-X) gets ${toQuota(free)} free of charge.`] : []),
  ...(needsSignIn ? ["A wallet must sign in (header SIGN-IN-WITH-X)."] : []),
];

/** How a wallet proves itself. */
const SIGN_IN = {
  name: "SIGN-IN-WITH-X",
  in: "header",
  description:
    "Base64 of the JSON proof that a wallet signs in (x402 extension sign-in-with-x), for the nonce of the 402.",
  required: false,
  schema: { type: "string" },
};

/** The price for directories: dollars with at least six decimals. */
function toPaymentInfo(price: string): JsonObject {
  const [whole, fraction = ""] = price.split(".");
  const amount = `${whole}.${fraction.padEnd(6, "0")}`;
  return { price: { mode: "fixed", currency: "USD", amount }, protocols: [{ x402: {} }] };
}

/** The fields of the input as parameters, or in the body of a POST where they are not in the path. */
function toInput(
  { manifest, path }: Service,
  { method }: Route,
  schema: JsonObject,
  components: Components,
): JsonObject {
  const names = parametersOf(path);
  const isPosted = method === "POST";
  const isWhole = isPosted && names.length === 0;
  const { inPath, rest } = splitSchema(isWhole ? schema : components.open(manifest, schema), names);
  const parameters = [
    ...toParameters("path", inPath),
    ...(isPosted ? [] : toParameters("query", rest)),
    ...(manifest.sign_in || manifest.free ? [SIGN_IN] : []),
  ];
  const examples = manifest.examples.map(({ input }) => splitInput(input as JsonObject, names).rest);
  const toBody = (): object => (isWhole ? components.refer(manifest, "input") : rest);
  return {
    ...((parameters.length > 0 || !isPosted) && { parameters }),
    ...(isPosted && { requestBody: { required: true, content: toContent(toBody(), examples) } }),
  };
}

function toParameters(place: "path" | "query", schema: JsonObject): JsonObject[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, field]) => {
    const { description, ...rest } = isObject(field) ? withoutNull(field) : {};
    return {
      name,
      in: place,
      ...(description !== undefined && { description }),
      required: place === "path" || required.includes(name),
      ...(place === "query" ? toQueryStyle(rest) : { schema: rest }),
    };
  });
}

/** A field without its null type: a query or a path cannot express null. */
function withoutNull(field: JsonObject): JsonObject {
  const isNull = (one: unknown): boolean => one === null || one === "null" || (isObject(one) && one.type === "null");
  const kept = Object.entries(field).flatMap(([key, value]): [string, unknown][] => {
    if (key === "default" && value === null) return [];
    if (!["type", "enum", "anyOf"].includes(key) || !Array.isArray(value)) return [[key, value]];
    const rest = value.filter((one) => !isNull(one));
    return [[key, key === "type" && rest.length === 1 ? rest[0] : rest]];
  });
  return Object.fromEntries(kept);
}

/** The examples of the answers: the examples' outputs; for a job service, an accepted job. */
function toShown({ manifest: { examples }, job }: Service, baseUrl: string): readonly unknown[] {
  if (job) return [toAcceptedExample(job.manifest, baseUrl)];
  return examples.flatMap(({ output }) => (output === undefined ? [] : [output]));
}

/** The schema of a service's answers, and examples of them. */
interface Answers {
  readonly schema: object;
  readonly examples: readonly unknown[];
}

function toAnswers({ manifest, job }: Service, { method }: Route, { schema, examples }: Answers): JsonObject {
  const { price, title } = manifest;
  const media = mediaOf(manifest);
  const isPaid = price !== undefined;
  return {
    responses: {
      "200": {
        description: `What ${title} returns`,
        ...(isPaid && { headers: toReceiptHeader() }),
        content: media ? { [media.type]: { schema } } : toContent(schema, examples),
        ...(job && { links: { status: toStatusLink(manifest.id) } }),
      },
      ...toErrorResponses({ isPaid, needsSignIn: manifest.sign_in === true, isPosted: method === "POST" }),
    },
  };
}

/** The OpenAPI link by which generated clients poll a job. */
const toStatusLink = (id: string): JsonObject => ({
  operationId: toStatusId(id),
  parameters: { job_id: "$response.body#/job_id" },
  description: "The job's status, free of charge.",
});

/** JSON of a schema, with examples of it. */
export function toContent(schema: object, values: readonly unknown[]): JsonObject {
  const shown = values.filter((value) => !seemsToRefer(value));
  const examples = Object.fromEntries(shown.map((value, at) => [`example${at + 1}`, { value }]));
  return { "application/json": { schema, ...(shown.length > 0 && { examples }) } };
}
