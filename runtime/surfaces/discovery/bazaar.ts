import type { JsonObject } from "../../core/json.ts";
import { PATHS } from "../../core/paths.ts";
import type { ExtensionsOf } from "../../core/payments/offers/offers.ts";
import type { Service } from "../../core/service.ts";
import { toAcceptedExample } from "../../core/set/job-manifests.ts";
import { mediaOf } from "../../core/set/manifest.ts";
import { parametersOf } from "../../core/set/route.ts";
import { toLean, toTypes, withoutProse } from "../schema/lean.ts";
import { splitInput, splitSchema } from "../schema/path-fields.ts";
import { createSchemaInliner } from "../schema/self-contained.ts";
import type { DescribedSet } from "../schema/shown-set.ts";

/** A service's entry in a facilitator's directory, and the schema of that entry (x402 extension `bazaar`). */
export interface Bazaar {
  readonly info: JsonObject;
  readonly schema: JsonObject;
  /** The path with parameters as `:name`. Omitted when the path has none. */
  readonly routeTemplate?: string;
}

/**
 * The `bazaar` extension of each challenge, built once. At its own URL a service is an HTTP resource, described by its
 * main route; at the MCP endpoint it is a tool; other endpoints have no extension. The lean form describes only the
 * input, by as many names and types as fit; when nothing fits, it is omitted.
 */
export function createBazaar({ services, schemas, baseUrl }: DescribedSet): ExtensionsOf {
  const inline = createSchemaInliner(services, schemas);
  const made = new Map<string, Forms>();
  const mcp = baseUrl + PATHS.mcp;
  return (service, resource, room) => {
    const toInfo = resource === mcp ? toTool : resource === baseUrl + service.path ? toHttp : undefined;
    if (!toInfo) return undefined;
    const key = `${service.manifest.id} ${resource}`;
    const forms = made.get(key) ?? build(service, toInfo);
    made.set(key, forms);
    if (room === undefined) return forms.full;
    return forms.lean.find(({ bytes }) => bytes <= room)?.extension;
  };

  function build(service: Service, toInfo: ToInfo): Forms {
    const { manifest, job } = service;
    const input = toFlat(service.input.document);
    const output = withoutProse(toFlat(service.output.document));
    const answer = job
      ? toAcceptedExample(job.manifest, baseUrl)
      : manifest.examples.find(({ output }) => output !== undefined)?.output;
    const example = (manifest.examples[0]?.input ?? {}) as JsonObject;
    const lean = [
      toBazaar(toInfo(service, { input: toLean(input), example })),
      toBazaar(toInfo(service, { input: toTypes(input), example })),
      toBazaar(toInfo(service, { input: ANY_OBJECT, example })),
      toBazaar(toInfo(service, { input: ANY_OBJECT, example: splitInput(example, parametersOf(service.path)).inPath })),
    ].map(toForm);
    const forms = [
      ...(mediaOf(manifest)
        ? []
        : [
            toForm(toBazaar(toInfo(service, { input, example }), { output, answer })),
            toForm(toBazaar(toInfo(service, { input: withoutProse(input), example }), { output: ANY_OBJECT, answer })),
          ]),
      ...lean,
    ];
    const full = forms.find(({ bytes }) => bytes <= MOST_BYTES) ?? (lean.at(-1) as Form); // The last form is the smallest.
    return { full: full.extension, lean };
  }

  /**
   * The schema without references. A schema that contains itself cannot do without them, and is shown as any object.
   */
  function toFlat(document: object): JsonObject {
    const schema = inline(document);
    return "$defs" in schema ? ANY_OBJECT : schema;
  }
}

/** An extension and its size as JSON. */
interface Form {
  readonly extension: { readonly bazaar: Bazaar };
  readonly bytes: number;
}

interface Forms {
  readonly full: Form["extension"];
  /** The most detailed first. */
  readonly lean: readonly Form[];
}

function toForm(bazaar: Bazaar): Form {
  const extension = { bazaar };
  return { extension, bytes: Buffer.byteLength(JSON.stringify(extension)) };
}

const ANY_OBJECT: JsonObject = { type: "object" };

/** The largest full entry, in bytes of JSON. Facilitators receive it with every payment. */
const MOST_BYTES = 8192;

/** A service's input at one endpoint, and the schemas of the input's members. */
interface Described {
  readonly input: JsonObject;
  readonly properties: JsonObject;
  readonly routeTemplate?: string;
}

/** The schema of a service's input, and an example of it. */
interface Shown {
  readonly input: JsonObject;
  readonly example: JsonObject;
}

type ToInfo = (service: Service, shown: Shown) => Described;

/** The schema of an answer, and an example of it. */
interface Answer {
  readonly output: JsonObject;
  readonly answer: unknown;
}

function toBazaar({ input, properties, routeTemplate }: Described, given?: Answer): Bazaar {
  const example = given?.answer !== undefined && { example: given.answer };
  const answer = given && {
    output: { type: "object", properties: { type: { const: "json" }, example: given.output }, required: ["type"] },
  };
  return {
    info: { input, ...(given && { output: { type: "json", ...example } }) },
    schema: {
      ...(given && { $schema: "https://json-schema.org/draft/2020-12/schema" }),
      type: "object",
      properties: {
        input: {
          type: "object",
          properties,
          required: Object.keys(input),
          ...(given && { additionalProperties: false }),
        },
        ...answer,
      },
      required: ["input"],
    },
    ...(routeTemplate !== undefined && { routeTemplate }),
  };
}

/** An HTTP resource: its main route, and the example, split between path and body or query. */
function toHttp({ routes, path }: Service, shown: Shown): Described {
  const [method, ...names] = [routes[0]?.method ?? "POST", ...parametersOf(path)];
  const example = splitInput(shown.example, names);
  const fields = splitSchema(shown.input, names);
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

/** A tool of the MCP endpoint, whose URL all services share. The challenge's `resource` has the description. */
function toTool({ manifest: { id } }: Service, { input, example }: Shown): Described {
  return {
    input: { type: "mcp", toolName: id, transport: "streamable-http", inputSchema: input, example },
    properties: {
      type: { const: "mcp" },
      toolName: { const: id },
      transport: { const: "streamable-http" },
      inputSchema: { type: "object" },
      example: { type: "object" },
    },
  };
}
