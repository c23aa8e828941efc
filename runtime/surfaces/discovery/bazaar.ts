import { PATHS } from "../../core/paths.ts";
import type { ExtensionsOf } from "../../core/payments/offers.ts";
import { mapSubschemas, type SchemaObject } from "../../core/schema/subschemas.ts";
import type { Service } from "../../core/service.ts";
import { parametersOf } from "../../core/set/route.ts";
import { splitInput, splitSchema } from "../schema/path-fields.ts";
import { createSchemaInliner } from "../schema/self-contained.ts";

export interface BazaarOptions {
  readonly services: readonly Service[];
  /** The set's schemas by name. */
  readonly schemas: ReadonlyMap<string, object>;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
}

type Json = Readonly<Record<string, unknown>>;

/** A service's entry in a facilitator's directory, and the schema of that entry (x402 extension `bazaar`). */
export interface Bazaar {
  readonly info: Json;
  readonly schema: Json;
  /** The path with parameters as `:name`. Left out where the path has none. */
  readonly routeTemplate?: string;
}

/**
 * The `bazaar` extension of each challenge, made once: at its own URL a service is an HTTP resource, described by its main
 * route; at the MCP endpoint it is a tool. Other doors have none.
 */
export function createBazaar({ services, schemas, baseUrl }: BazaarOptions): ExtensionsOf {
  const inline = createSchemaInliner(services, schemas);
  const made = new Map<string, { readonly bazaar: Bazaar }>();
  return (service, resource) => {
    const key = `${service.manifest.id} ${resource}`;
    const known = made.get(key);
    if (known) return known;
    const toInfo = { [baseUrl + PATHS.mcp]: toTool, [baseUrl + service.path]: toHttp }[resource];
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

  /** The schema without references. One that contains itself needs them, and is shown as any object. */
  function toFlat(document: object): Json {
    const schema = inline(document);
    return "$defs" in schema ? ANY_OBJECT : schema;
  }
}

const ANY_OBJECT: Json = { type: "object" };

/**
 * The largest entry, in bytes of JSON. The challenge is a header, and the payment repeats it (x402-specification-v2,
 * section 5.2.2): its base64, with the rest of the payment, must stay below the 8 KB that common proxies accept.
 * openapi.json has the complete schemas.
 */
const MOST_BYTES = 3072;

/** The schema without its texts for people. */
function withoutProse(schema: SchemaObject): SchemaObject {
  const entries = Object.entries(schema).filter(([keyword]) => !PROSE.includes(keyword));
  return mapSubschemas(Object.fromEntries(entries), withoutProse);
}

const PROSE = ["title", "description", "examples", "x-message"];

/** The input of one door, and the schemas of its members. */
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

/** An HTTP resource: its main route, and the first example, split between path and body or query. */
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

/** A tool of the MCP endpoint, whose URL all services share. */
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
