import type { SiteManifest } from "../core/manifest.ts";
import { toAtomic } from "../core/price.ts";
import type { Service } from "../core/service.ts";
import { ERROR_RESPONSES, OWN_SCHEMAS, toErrorResponses } from "./openapi-responses.ts";
import { type NamedSchemas, namesIn, toComponents, toSchema } from "./openapi-schemas.ts";

export interface OpenApiOptions {
  readonly services: readonly Service[];
  readonly site: SiteManifest;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly schemas: NamedSchemas;
}

type Json = Record<string, unknown>;

/**
 * The machine-readable description (OpenAPI 3.1). A service stands in it once, by its main route; further routes of the
 * same service stay callable and are listed in the catalogue. The same services give the same bytes.
 */
export function toOpenApi({ services, site, baseUrl, schemas }: OpenApiOptions): object {
  const names = services.flatMap(({ manifest }) => [...namesIn(manifest.input), ...namesIn(manifest.output)]);
  const categories = [...new Set(services.map(({ manifest }) => manifest.category ?? OTHER))].sort();
  return {
    openapi: "3.1.0",
    info: {
      title: site.title,
      version: site.version,
      description: site.description,
      contact: site.contact,
      license: { name: "MIT", identifier: "MIT" },
      "x-guidance": toGuidance(site, baseUrl),
    },
    servers: [{ url: baseUrl }],
    tags: [...categories, OPERATIONS].map((name) => ({ name })),
    paths: { ...toPaths(services), ...OWN_PATHS },
    components: {
      schemas: { ...toComponents(names, schemas), ...OWN_SCHEMAS },
      responses: ERROR_RESPONSES,
    },
  };
}

const OTHER = "other";
const OPERATIONS = "operations";

function toPaths(services: readonly Service[]): Json {
  const paths: Record<string, Json> = {};
  for (const service of services) {
    const [route] = service.routes;
    if (!route) continue;
    paths[route.path] ??= {};
    (paths[route.path] as Json)[route.method.toLowerCase()] = toOperation(service, route.method);
  }
  return paths;
}

function toOperation({ manifest, input, path }: Service, method: "GET" | "POST"): Json {
  const { id, title, description, price, category, examples } = manifest;
  const requests = Object.fromEntries(examples.map((example, at) => [`example${at + 1}`, { value: example.input }]));
  const answers = Object.fromEntries(
    examples.flatMap(({ output }, at) => (output === undefined ? [] : [[`example${at + 1}`, { value: output }]])),
  );
  const content = (schema: object, shown: Json): Json => ({
    "application/json": { schema, ...(Object.keys(shown).length > 0 && { examples: shown }) },
  });
  const receipt = {
    "PAYMENT-RESPONSE": { description: "Base64 of the JSON SettleResponse", schema: { type: "string" } },
  };
  return {
    operationId: id,
    summary: title,
    description,
    tags: [category ?? OTHER],
    security: [],
    ...(price !== undefined && { "x-payment-info": toPaymentInfo(price) }),
    ...toParameters(input.document, path, method),
    ...(method === "POST" && {
      requestBody: { required: true, content: content(toSchema(manifest.input, `${id}Input`), requests) },
    }),
    responses: {
      "200": {
        description: `What ${title} returns`,
        ...(price !== undefined && { headers: receipt }),
        content: content(toSchema(manifest.output, `${id}Output`), answers),
      },
      ...toErrorResponses(price !== undefined),
    },
  };
}

/** Path parameters, and for GET the query: each a field of the input schema. */
function toParameters(document: Json, path: string, method: "GET" | "POST"): Json {
  const fields = Object.entries((document.properties ?? {}) as Record<string, Json>);
  const required = new Set((document.required ?? []) as string[]);
  const parameters = fields.flatMap(([name, { description, ...schema }]) => {
    const inPath = path.includes(`{${name}}`);
    if (!inPath && method !== "GET") return [];
    return [{ name, in: inPath ? "path" : "query", required: inPath || required.has(name), description, schema }];
  });
  return parameters.length > 0 ? { parameters } : {};
}

const toPaymentInfo = (price: string): Json => {
  const micros = toAtomic(price, 6).toString().padStart(7, "0");
  const amount = `${micros.slice(0, -6)}.${micros.slice(-6)}`;
  return { price: { mode: "fixed", currency: "USD", amount }, protocols: [{ x402: {} }] };
};

function toGuidance({ title, rails }: SiteManifest, baseUrl: string): string {
  const ways = rails.map((rail) => `${rail.title} (${rail.network})`).join(", ");
  return [
    `${title} sells single calls to AI agents. There are no accounts and no API keys: each call is paid with x402.`,
    "Send a request without a payment: the answer is 402 with the price in `accepts` and in the PAYMENT-REQUIRED header.",
    `Sign one of the offers (${ways}) and repeat the identical request with the PAYMENT-SIGNATURE header.`,
    "A stock x402 client does both steps. An input that is refused (422) and a call that fails are never charged.",
    "After a broken connection or a 503 `settlement-unknown`, repeat the same request with the same payment: the answer is kept and you are charged once.",
    `The same services are tools of the MCP endpoint ${baseUrl}/mcp.`,
  ].join("\n");
}

const OWN_PATHS: Json = {
  "/health": toProbe("health", "Liveness", "Answers as long as the process does.", {
    "200": probeAnswer("Alive", "Health"),
  }),
  "/ready": toProbe("ready", "Readiness", "How the store and each payment rail are.", {
    "200": probeAnswer("Ready to sell", "Readiness"),
    "503": probeAnswer("Not ready to sell", "Readiness"),
  }),
};

function toProbe(operationId: string, summary: string, description: string, responses: Json): Json {
  const rest = { $ref: "#/components/responses/Problem429" };
  return {
    get: {
      operationId,
      summary,
      description,
      tags: [OPERATIONS],
      security: [],
      responses: { ...responses, "429": rest },
    },
  };
}

function probeAnswer(description: string, schema: string): Json {
  return { description, content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } } };
}
