import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Problem } from "../../../api/problem.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { METHODS, mergeParameters } from "./operations.ts";
import { createPointers, tryDecode } from "./pointers.ts";
import { parseText, readLocal, readRemote } from "./read-text.ts";

/** An OpenAPI document. */
export interface ReadDocument {
  /** Version 3.0, 3.1 or 3.2; version 2.0 is converted. All references are within the document. */
  readonly document: JsonObject;
  /** The file or URL as it was given. */
  readonly source: string;
  /** The URL from which it was read, to resolve relative addresses; undefined for a file. */
  readonly url?: string;
}

const OTHERS = "A Postman collection can be converted; for GraphQL, write a manifest";

/**
 * Reads an OpenAPI document (2.0 to 3.2; JSON or YAML) and the files that it references in its own folder, or on its
 * own origin.
 * @throws Problem `bad-request` when it is not an OpenAPI document; `upstream-failed` when it cannot be fetched.
 */
export async function readDocument(location: string): Promise<ReadDocument> {
  const url = /^https?:\/\//.test(location) ? location : undefined;
  const text = await (url === undefined ? readLocal(resolve(location)) : readRemote(url));
  const parsed = parseText(text, location);
  const version = isObject(parsed) ? String(parsed.openapi ?? parsed.swagger ?? "") : "";
  if (!isObject(parsed) || !/^(?:2|3)(?:\.|$)/.test(version))
    throw new Problem(
      "bad-request",
      `${location} is no OpenAPI document: it must say "openapi: 3.x" or "swagger: 2.0". ${OTHERS}`,
    );
  const whole = hasOutsideReference(parsed) ? await bundle(parsed, url ?? resolve(location)) : parsed;
  const document = version.startsWith("2") ? await toVersion3({ ...whole, swagger: "2.0" }, location) : whole;
  return { document, source: location, ...(url !== undefined && { url }) };
}

function hasOutsideReference(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasOutsideReference);
  if (!isObject(value)) return false;
  if (typeof value.$ref === "string" && !value.$ref.startsWith("#")) return true;
  return Object.values(value).some(hasOutsideReference);
}

/**
 * Includes the referenced files in the document. A reference that cannot be read stays, and is refused where it is
 * used.
 */
async function bundle(document: JsonObject, location: string): Promise<JsonObject> {
  const { $RefParser } = await import("@apidevtools/json-schema-ref-parser");
  const root = new URL(/^https?:/.test(location) ? location : pathToFileURL(location)).href;
  const base = new URL(".", root).href;
  const own = {
    order: 1,
    canRead: true,
    read: async ({ url }: { url: string }): Promise<string> => {
      const href = toHref(url);
      if (!href.startsWith(base)) throw new Error(`${href} is not below ${base}`);
      return href.startsWith("file:") ? readLocal(fileURLToPath(href), fileURLToPath(base)) : readRemote(href, "error");
    },
  };
  const text = {
    order: 1,
    canParse: true,
    parse: ({ data, url }: { data: unknown; url: string }) =>
      withReferences(parseText(String(data), url), (reference) => {
        const { href = "", hash = "" } = URL.parse(reference, toHref(url)) ?? {};
        return href.replace(/#.*$/s, "") === root ? BACK + hash.slice(1) : reference;
      }) as object,
  };
  const options = {
    continueOnError: true,
    resolve: { file: false, http: false, own },
    parse: { json: false, yaml: false, text: false, binary: false, own: text },
  };
  const parser = new $RefParser();
  const bundled = await parser
    .bundle(location, structuredClone(document), options)
    .catch(() => (isObject(parser.schema) ? parser.schema : document));
  return withReferences(bundled, (reference) =>
    reference.startsWith(BACK) ? `#${reference.slice(BACK.length)}` : reference,
  ) as JsonObject;
}

/** Marks a reference of another file back into the document, which the parser would leave as it is. */
const BACK = "#back:";

/** The URL of what the parser names: a URL, or the path of a file, in which it encodes spaces and other letters. */
const toHref = (url: string): string =>
  /^(?:https?|file):/.test(url) ? new URL(url).href : pathToFileURL(tryDecode(url)).href;

function withReferences(value: unknown, change: (reference: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, change));
  if (!isObject(value)) return value;
  const parts = Object.entries(value).map(([key, part]) => {
    const isReference = key === "$ref" && typeof part === "string";
    return [key, isReference ? change(part) : withReferences(part, change)];
  });
  return Object.fromEntries(parts);
}

async function toVersion3(document: JsonObject, location: string): Promise<JsonObject> {
  const { upgrade } = await import("@scalar/openapi-upgrader");
  try {
    return upgrade(withOwnParameters(document), "3.0") as unknown as JsonObject;
  } catch (error) {
    throw new Problem("bad-request", `${location} cannot be converted to OpenAPI 3: ${(error as Error).message}`);
  }
}

/**
 * Gives each operation all of its parameters, without references: the conversion leaves a referenced body among the
 * parameters, and gives a path's body only to the operations that stand after it.
 */
function withOwnParameters(document: JsonObject): JsonObject {
  const pointers = createPointers(document);
  const toOwn = (item: unknown): unknown => {
    if (!isObject(item)) return item;
    const { parameters, ...rest } = item;
    const methods = Object.entries(rest).map(([key, own]) => {
      const isMethod = METHODS.includes(key) && isObject(own);
      if (!isMethod) return [key, own];
      const all = mergeParameters(parameters, own.parameters, pointers).map(withFormat);
      return [key, { ...own, parameters: all, ...toConsumed(all, own.consumes ?? document.consumes) }];
    });
    return Object.fromEntries(methods);
  };
  const withFormat = (own: JsonObject): JsonObject => {
    const format = String(own.collectionFormat);
    const isLost = format === "tsv" || /^(?:path|header)$/.test(String(own.in)); // OpenAPI 3 has no such styles.
    if (isLost && Object.hasOwn(STYLES, format)) return { ...own, style: STYLES[format] };
    const isUnsaid = own.in === "formData" && own.type === "array" && own.collectionFormat === undefined;
    return isUnsaid ? { ...own, collectionFormat: "csv" } : own; // The default, which the conversion ignores.
  };
  const paths = Object.entries(isObject(document.paths) ? document.paths : {});
  return { ...document, paths: Object.fromEntries(paths.map(([path, item]) => [path, toOwn(item)])) };
}

const STYLES: Readonly<Record<string, string>> = {
  pipes: "pipeDelimited",
  ssv: "spaceDelimited",
  tsv: "tabDelimited",
};

/** A form of which the document does not say how it is sent; the conversion would send any as one with files. */
function toConsumed(parameters: readonly JsonObject[], said: unknown): { readonly consumes?: readonly string[] } {
  const isForm = parameters.some((own) => own.in === "formData");
  const isUnsaid = !/form-(?:data|urlencoded)/i.test(JSON.stringify(said ?? ""));
  const hasFile = parameters.some((own) => own.type === "file");
  return isForm && isUnsaid && !hasFile ? { consumes: ["application/x-www-form-urlencoded"] } : {};
}
