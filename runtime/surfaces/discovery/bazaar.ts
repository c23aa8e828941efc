import type { ExtensionsOf } from "../../core/payments/offers.ts";
import { createSchemaNodes } from "../../core/schema/nodes.ts";
import { mapSubschemas, type SchemaObject } from "../../core/schema/subschemas.ts";
import type { Service } from "../../core/service.ts";
import { parametersOf } from "../../core/set/route.ts";
import { MCP_PATH } from "../mcp/mcp.ts";
import { toSelfContained } from "../mcp/schemas.ts";
import { splitInput, splitSchema } from "../path-fields.ts";

export interface BazaarOptions {
  readonly services: readonly Service[];
  /** The set's schemas by name. */
  readonly schemas: ReadonlyMap<string, object>;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
}

type Json = Readonly<Record<string, unknown>>;

/** What a facilitator's directory lists a service by, and a schema that holds for it (x402 extension `bazaar`). */
export interface Bazaar {
  readonly info: Json;
  readonly schema: Json;
  /** The path with its parameters as `:name`, where it has any. */
  readonly routeTemplate?: string;
}

/**
 * The `bazaar` extension of each challenge: at its own URL a service is an HTTP resource, described by its main route; at
 * the MCP endpoint it is a tool. Other doors are not listed. Made once each, and kept.
 */
export function createBazaar({ services, schemas, baseUrl }: BazaarOptions): ExtensionsOf {
  const { resolve, add } = createSchemaNodes(schemas);
  for (const { input, output } of services) for (const { document } of [input, output]) add(document);
  const made = new Map<string, { readonly bazaar: Bazaar }>();
  return (service, resource) => {
    const key = `${service.manifest.id} ${resource}`;
    const known = made.get(key);
    if (known) return known;
    const toInfo = { [baseUrl + MCP_PATH]: toTool, [baseUrl + service.path]: toHttp }[resource];
    if (!toInfo) return undefined;
    const extension = { bazaar: build(service, toInfo) };
    made.set(key, extension);
    return extension;
  };

  function build(service: Service, toInfo: typeof toHttp): Bazaar {
    const input = toFlat(service.input.document);
    const output = withoutProse(toFlat(service.output.document));
    const example = service.manifest.examples.find((one) => one.output !== undefined)?.output;
    const inOrder: readonly (() => Bazaar)[] = [
      () => toBazaar(toInfo(service, input), output, example),
      () => toBazaar(toInfo(service, input), ANY_OBJECT, example),
      () => toBazaar(toInfo(service, withoutProse(input)), ANY_OBJECT, example),
    ];
    for (const make of inOrder) {
      const bazaar = make();
      if (Buffer.byteLength(JSON.stringify(bazaar)) <= MOST_BYTES) return bazaar;
    }
    return toBazaar(toInfo(service, withoutProse(input)), ANY_OBJECT, undefined);
  }

  /** Without any reference: what contains itself can only be referred to, and so is not shown. */
  function toFlat(document: object): Json {
    const schema = toSelfContained(document, resolve);
    return "$defs" in schema ? ANY_OBJECT : schema;
  }
}

const ANY_OBJECT: Json = { type: "object" };

/**
 * Bytes of JSON. A challenge travels in a header, and the payment echoes it (x402-specification-v2, section 5.2.2): in
 * base64, with everything else that a payment holds, it then stays below the 8 KB that common proxies take. What is left
 * out stands in openapi.json.
 */
const MOST_BYTES = 3072;

/** The schema with what validators need, and nothing for people. */
function withoutProse(schema: SchemaObject): SchemaObject {
  const entries = Object.entries(schema).filter(([keyword]) => !PROSE.includes(keyword));
  return mapSubschemas(Object.fromEntries(entries), withoutProse);
}

const PROSE = ["title", "description", "examples", "x-message"];

/** The input of one door: what it is, and the schema of that. */
interface Described {
  readonly input: Json;
  readonly properties: Json;
  readonly routeTemplate?: string;
}

function toBazaar({ input, properties, routeTemplate }: Described, output: Json, example: unknown): Bazaar {
  return {
    info: { input, output: { type: "json", ...(example !== undefined && { example }) } },
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        input: { type: "object", properties, required: Object.keys(input), additionalProperties: false },
        output: { type: "object", properties: { type: { const: "json" }, example: output }, required: ["type"] },
      },
      required: ["input"],
    },
    ...(routeTemplate !== undefined && { routeTemplate }),
  };
}

/** An HTTP resource: its main route, and the first example split into what stands in the path and what does not. */
function toHttp({ manifest, routes, path }: Service, schema: Json): Described {
  const [method, ...names] = [routes[0]?.method ?? "POST", ...parametersOf(path)];
  const example = splitInput(exampleOf(manifest), names);
  const fields = splitSchema(schema, names);
  const isPosted = method === "POST";
  const hasPath = names.length > 0;
  return {
    input: {
      type: "http",
      method,
      ...(isPosted ? { bodyType: "json", body: example.rest } : { queryParams: example.rest }),
      ...(hasPath && { pathParams: example.inPath }),
    },
    properties: {
      type: { const: "http" },
      method: { const: method },
      ...(isPosted ? { bodyType: { const: "json" }, body: fields.rest } : { queryParams: fields.rest }),
      ...(hasPath && { pathParams: fields.inPath }),
    },
    ...(hasPath && { routeTemplate: path.replaceAll(/\{(\w+)\}/g, ":$1") }),
  };
}

/** A tool of the MCP endpoint, where all services have one URL. */
function toTool({ manifest }: Service, schema: Json): Described {
  const { id, description } = manifest;
  return {
    input: {
      type: "mcp",
      toolName: id,
      description,
      transport: "streamable-http",
      inputSchema: schema,
      example: exampleOf(manifest),
    },
    properties: {
      type: { const: "mcp" },
      toolName: { const: id },
      description: { type: "string" },
      transport: { const: "streamable-http" },
      inputSchema: { type: "object" },
      example: { type: "object" },
    },
  };
}

const exampleOf = ({ examples }: Service["manifest"]): Json => (examples[0]?.input ?? {}) as Json;
