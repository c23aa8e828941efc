import { isObject } from "../../core/json.ts";
import type { Service } from "../../core/service.ts";
import { toStatusId } from "../../core/set/job-manifests.ts";
import { parametersOf } from "../../core/set/route.ts";
import { splitInput, splitSchema } from "../schema/path-fields.ts";
import { createSchemaInliner } from "../schema/self-contained.ts";
import { toErrorResponses } from "./responses.ts";
import { type Components, createComponents, type NamedSchemas } from "./schemas.ts";

type Json = Readonly<Record<string, unknown>>;

/** The operations by path and method, and the schemas that they refer to. */
export interface Operations {
  readonly paths: Readonly<Record<string, Json>>;
  readonly schemas: ReturnType<Components["list"]>;
}

/** Every service once, by its main route. */
export function toOperations(services: readonly Service[], schemas: NamedSchemas): Operations {
  const components = createComponents(schemas);
  const inline = createSchemaInliner(services, schemas);
  const paths: Record<string, Json> = {};
  for (const service of services) {
    const [route] = service.routes;
    if (!route) continue;
    const input = inline(service.input.document);
    const operation = { ...toHead(service), ...toInput(service, input, components), ...toAnswers(service, components) };
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
  }
  return { paths, schemas: components.list() };
}

/** The category of services that name none. */
export const OTHER = "other";

function toHead({ manifest, routes }: Service): Json {
  const { id, title, description, category, price } = manifest;
  const aliases = routes.slice(1).map(({ method }) => `Also answers ${method}, with the same fields in the query.`);
  return {
    operationId: id,
    summary: title,
    description: [description, ...toFree(manifest), ...aliases].join(" "),
    tags: [category ?? OTHER],
    security: [],
    ...(price !== undefined && { "x-payment-info": toPaymentInfo(price) }),
  };
}

const toFree = ({ free, sign_in: needsSignIn }: Service["manifest"]): string[] => [
  ...(free
    ? [`A wallet that signs in (header SIGN-IN-WITH-X) gets ${free.calls} calls free of charge each ${free.per}.`]
    : []),
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
function toPaymentInfo(price: string): Json {
  const [whole, fraction = ""] = price.split(".");
  const amount = `${whole}.${fraction.padEnd(6, "0")}`;
  return { price: { mode: "fixed", currency: "USD", amount }, protocols: [{ x402: {} }] };
}

/** The fields of the input as parameters, or in the body of a POST where they are not in the path. */
function toInput({ manifest, routes, path }: Service, schema: Json, components: Components): Json {
  const names = parametersOf(path);
  const { inPath, rest } = splitSchema(schema, names);
  const isPosted = routes[0]?.method === "POST";
  const parameters = [
    ...toParameters("path", inPath),
    ...(isPosted ? [] : toParameters("query", rest)),
    ...(manifest.sign_in || manifest.free ? [SIGN_IN] : []),
  ];
  const examples = manifest.examples.map(({ input }) => splitInput(input as Json, names).rest);
  const toBody = (): object => (names.length > 0 ? rest : components.refer(manifest, "input"));
  return {
    ...(parameters.length > 0 && { parameters }),
    ...(isPosted && { requestBody: { required: true, content: toContent(toBody(), examples) } }),
  };
}

function toParameters(place: "path" | "query", schema: Json): Json[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, field]) => {
    const { description, ...rest } = isObject(field) ? field : {};
    return {
      name,
      in: place,
      ...(description !== undefined && { description }),
      required: place === "path" || required.includes(name),
      schema: rest,
    };
  });
}

function toAnswers({ manifest, routes, job }: Service, components: Components): Json {
  const { price, title, examples } = manifest;
  const isPaid = price !== undefined;
  const shown = examples.flatMap(({ output }) => (output === undefined ? [] : [output]));
  return {
    responses: {
      "200": {
        description: `What ${title} returns`,
        ...(isPaid && { headers: { "PAYMENT-RESPONSE": RECEIPT } }),
        content: toContent(components.refer(manifest, "output"), shown),
        ...(job && { links: { status: toStatusLink(manifest.id) } }),
      },
      ...toErrorResponses({ isPaid, needsSignIn: manifest.sign_in === true, isPosted: routes[0]?.method === "POST" }),
    },
  };
}

/** How generated clients follow a job. */
const toStatusLink = (id: string): Json => ({
  operationId: toStatusId(id),
  parameters: { job_id: "$response.body#/job_id" },
  description: "How the job stands, free of charge.",
});

const RECEIPT = { description: "Base64 of the JSON SettleResponse", schema: { type: "string" } };

function toContent(schema: object, values: readonly unknown[]): Json {
  const examples = Object.fromEntries(values.map((value, at) => [`example${at + 1}`, { value }]));
  return { "application/json": { schema, ...(values.length > 0 && { examples }) } };
}
