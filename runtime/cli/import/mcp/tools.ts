import type { Tool } from "@modelcontextprotocol/client";
import { isDeep, isObject, type JsonObject } from "../../../core/json.ts";
import { createCompiler } from "../../../core/schema/validator.ts";
import { findExample } from "../example-inputs.ts";
import {
  type Imported,
  type ImportedManifest,
  type ImportedService,
  type LeftOut,
  Refused,
  toReason,
  type UpstreamEntry,
} from "../imported.ts";
import {
  createNames,
  noteOf,
  toClashNotes,
  toCutNote,
  toDescription,
  toSchemaName,
  toServiceId,
  toServicePath,
  toTitle,
} from "../names.ts";
import { createPointers } from "../openapi/pointers.ts";
import { withWholeTexts } from "../openapi/read-text.ts";
import { createSchemaBook, type SchemaBook } from "../openapi/schema/book.ts";
import { toBodyBytes } from "../openapi/service.ts";

export interface ToolsImport {
  /** The URL or the command, as it was given. */
  readonly source: string;
  readonly upstream: UpstreamEntry;
  /** All tools of the server. */
  readonly tools: readonly Tool[];
  readonly chosen: readonly Tool[];
  /** US dollars; undefined for free services. */
  readonly price: string | undefined;
}

/** A tool as a service, without its example. */
interface Draft {
  readonly tool: Tool;
  readonly manifest: ImportedManifest;
  readonly schemas: ReadonlyMap<string, JsonObject>;
}

/** The chosen tools as services. Tools that cannot be sold are listed under `refused`. */
export async function importTools({ source, upstream, tools, chosen, price }: ToolsImport): Promise<Imported> {
  const claim = createNames();
  const ids = new Map(tools.map((tool) => [tool, claim(toServiceId(upstream.id, tool.name), "_")]));
  const refused: LeftOut[] = [];
  const services: ImportedService[] = [];
  const described: (readonly [id: string, description: string])[] = [];
  const schemas = new Map<string, JsonObject>();
  for (const tool of chosen) {
    try {
      const draft = readTool(tool, { id: ids.get(tool) ?? "", upstream: upstream.id, price });
      services.push(await withExample(draft));
      described.push([draft.manifest.id, tool.description ?? ""]);
      for (const [name, schema] of draft.schemas) schemas.set(name, schema);
    } catch (error) {
      refused.push({ name: tool.name, reason: toReason(error) });
    }
  }
  return {
    source,
    upstreams: services.length > 0 ? [upstream] : [],
    services,
    schemas,
    refused,
    offered: [...ids.values()],
    notesOn(sold) {
      const isSold = (id = ""): boolean => sold.has(id);
      return [
        ...toClashNotes(
          upstream.id,
          ids,
          chosen.filter((tool) => isSold(ids.get(tool))),
        ),
        ...toCutNote(described.filter(([id]) => isSold(id))),
        ...toTraceNote(services.filter(({ manifest }) => isSold(manifest.id))),
        ...toTextNote(
          toSchemaName(upstream.id, "content"),
          services.filter(({ manifest }) => isSold(manifest.id)),
        ),
      ];
    },
  };
}

interface ToolTerms {
  readonly id: string;
  readonly upstream: string;
  readonly price: string | undefined;
}

function readTool(tool: Tool, { id, upstream, price }: ToolTerms): Draft {
  const { name, description = "" } = tool;
  if (tool.execution?.taskSupport === "required") throw new Refused("it runs as a task only, which cannot be sold");
  if (isDeep([tool.inputSchema, tool.outputSchema])) throw new Refused("its schema is nested too deeply");
  const [inputSchema, outputSchema] = [withWholeTexts(tool.inputSchema), withWholeTexts(tool.outputSchema)];
  const input = toBook(inputSchema, upstream, `${name} input`);
  const output = outputSchema === undefined ? undefined : toBook(outputSchema, upstream, `${name} output`);
  const taken = input.fileOf(inputSchema, "input") ?? toObjectSchema(input.convert(inputSchema, "input"));
  if (!taken) throw new Refused("its input is not an object");
  const blocks = toSchemaName(upstream, "content");
  const own = output?.fileOf(outputSchema, "output") ?? toObjectSchema(output?.convert(outputSchema, "output"));
  const given = own ?? blocks;
  const hints = toHints(tool);
  const manifest = {
    id,
    title: toTitle(tool.title ?? tool.annotations?.title ?? name, id.slice(0, 32)),
    description: toDescription(description, `The tool ${name} of ${upstream}.`),
    route: `POST ${toServicePath(upstream, id)}`,
    ...(price !== undefined && { price, ...(hints.readOnly !== true && { charge: "first" }) }),
    proxy: { mcp: upstream, tool: name },
    ...(Object.keys(hints).length > 0 && { hints }),
    input: taken,
    output: given,
    tags: [upstream],
    ...toBodyBytes([isObject(taken) ? taken : (input.inputOf(inputSchema) ?? {})]),
  };
  const ofOutput = own ? (output?.filesOf([own]) ?? []) : [[blocks, BLOCKS] as const];
  return { tool, manifest, schemas: new Map([...input.filesOf([taken]), ...ofOutput]) };
}

/** A book of a tool's schemas. References stay within one schema, and each tool's parts have their own names. */
const toBook = (schema: unknown, upstream: string, name: string): SchemaBook => {
  const document = isObject(schema) ? schema : {};
  return createSchemaBook(document, createPointers(document), `${upstream} ${name}`);
};

/** A schema of objects; undefined for one of other values, too. A tool that names no fields accepts any. */
function toObjectSchema(schema: JsonObject | boolean | undefined): JsonObject | undefined {
  if (!isObject(schema)) return undefined;
  if (schema.type === "object") return schema;
  const isOther = [schema.type, schema.$ref, schema.anyOf, schema.oneOf].some((part) => part !== undefined);
  return isOther ? undefined : { type: "object", ...schema };
}

/** The output of a tool without an output schema, or whose output is no object: its content blocks (MCP, "Tool Result"). */
const BLOCKS: JsonObject = {
  type: "object",
  properties: {
    content: {
      type: "array",
      description: "The answer in blocks: texts, images, sounds, links and resources.",
      items: {
        type: "object",
        additionalProperties: true,
        properties: {
          type: { type: "string", description: "text, image, audio, resource or resource_link." },
          text: { type: "string" },
          data: { type: "string", description: "Base64." },
          mimeType: { type: "string" },
          uri: { type: "string" },
          name: { type: "string" },
          description: { type: "string" },
          resource: {
            type: "object",
            additionalProperties: true,
            properties: {
              uri: { type: "string" },
              mimeType: { type: "string" },
              text: { type: "string" },
              blob: { type: "string", description: "Base64." },
            },
          },
        },
        required: ["type"],
      },
    },
    structured: { description: "The answer as data, where the tool gives any." },
  },
  required: ["content"],
};

/** The hints that the server gives. They are trusted, since the operator chose the server. */
function toHints({ annotations = {} }: Tool): Readonly<Record<string, boolean>> {
  const { readOnlyHint, idempotentHint, destructiveHint, openWorldHint } = annotations;
  const named = {
    readOnly: readOnlyHint,
    idempotent: idempotentHint,
    destructive: destructiveHint,
    openWorld: openWorldHint,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => typeof value === "boolean")) as Record<
    string,
    boolean
  >;
}

async function withExample({ tool, manifest, schemas }: Draft): Promise<ImportedService> {
  const { proxy, input, output } = manifest;
  const { examples } = tool.inputSchema;
  const given = Array.isArray(examples) ? examples : [];
  const terms = { proxy, input, output, compile: createCompiler(schemas), documents: schemas };
  const { example, isDerived } = await findExample(terms, given, []);
  return { name: tool.name, manifest: { ...manifest, examples: [example] }, isDerived };
}

const toTraceNote = (services: readonly ImportedService[]): string[] =>
  noteOf(
    services.filter(({ manifest }) => manifest.charge === "first").map(({ manifest }) => manifest.id),
    (ids) => `tools that do not say that they only read are paid first: ${ids}`,
  );

/** Many servers, such as Context7's, tell of a failure in a text alone. */
const toTextNote = (blocks: string, services: readonly ImportedService[]): string[] =>
  noteOf(
    services.filter(({ manifest }) => manifest.output === blocks).map(({ manifest }) => manifest.id),
    (ids) =>
      `a failure that a tool tells in a text, without isError, is charged: ${ids}; where one does so, refuse such texts in schemas/${blocks}.json: "text": { "type": "string", "not": { "pattern": "^Error" } }`,
  );
