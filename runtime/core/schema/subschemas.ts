import { isObject } from "../json.ts";
import type { Path } from "./nodes.ts";

/** A JSON Schema that is an object. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** The keywords of JSON Schema 2020-12 that hold one schema, a list of schemas, or a mapping to schemas. */
const FURTHER = ["additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties"];
const ONE = ["items", "contains", ...FURTHER, "not", "if", "then", "else"];
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAPPINGS = ["properties", "patternProperties", "$defs", "dependentSchemas"];

/** The schema and every schema inside it, outer ones first, each with its path. Malformed parts are skipped. */
export function* subschemas(schema: unknown, path: Path = []): Generator<{ schema: SchemaObject; path: Path }> {
  if (!isObject(schema)) return;
  yield { schema, path };
  for (const keyword of ONE) yield* subschemas(schema[keyword], [...path, keyword]);
  for (const keyword of LISTS) {
    const list = schema[keyword];
    if (Array.isArray(list)) for (const [at, item] of list.entries()) yield* subschemas(item, [...path, keyword, at]);
  }
  for (const keyword of MAPPINGS) {
    const mapping = schema[keyword];
    if (isObject(mapping))
      for (const [key, value] of Object.entries(mapping)) yield* subschemas(value, [...path, keyword, key]);
  }
}

/** The schema with each schema directly inside it replaced. */
export function mapSubschemas(
  schema: SchemaObject,
  map: (schema: SchemaObject, keyword: string) => SchemaObject,
): SchemaObject {
  const entries = Object.entries(schema).map(([keyword, value]) => {
    const replace = (part: unknown): unknown => (isObject(part) ? map(part, keyword) : part);
    if (ONE.includes(keyword)) return [keyword, replace(value)];
    if (LISTS.includes(keyword) && Array.isArray(value)) return [keyword, value.map(replace)];
    if (!MAPPINGS.includes(keyword) || !isObject(value)) return [keyword, value];
    return [keyword, Object.fromEntries(Object.entries(value).map(([key, part]) => [key, replace(part)]))];
  });
  return Object.fromEntries(entries);
}

/**
 * The target of a `$ref`: a named schema, or without `name` the schema that contains the `$ref`; all of it, or one of
 * its `$defs`.
 */
export interface Reference {
  readonly name?: string;
  readonly definition?: string;
}

/** Reads `Name.json`, `#/$defs/part`, `Name.json#/$defs/part` or `#`; undefined for any other text. */
export function parseReference(text: string): Reference | undefined {
  const found = /^(?:([A-Z][A-Za-z0-9]*)\.json)?(?:#(?:\/\$defs\/([A-Za-z][A-Za-z0-9_-]*))?)?$/.exec(text);
  if (!found || text === "") return undefined;
  const [, name, definition] = found;
  return { ...(name !== undefined && { name }), ...(definition !== undefined && { definition }) };
}

export interface Schemas {
  /** By name. */
  readonly documents: ReadonlyMap<string, object>;
  /** All names, including those of unreadable files, so that a `$ref` to such a file is not reported as well. */
  readonly names: ReadonlySet<string>;
}

/** A schema given by name or inline, following a root `$ref`; undefined when there is none. */
export function toRootSchema(schema: string | object | undefined, { documents }: Schemas): SchemaObject | undefined {
  const found = typeof schema === "string" ? documents.get(schema) : schema;
  if (!isObject(found)) return undefined;
  const { name, definition } = typeof found.$ref === "string" ? (parseReference(found.$ref) ?? {}) : {};
  const target = name === undefined ? found : documents.get(name);
  const root = definition === undefined ? target : definitionsOf(target)[definition];
  return isObject(root) ? root : undefined;
}

/** The `$defs` of a schema's root. */
export function definitionsOf(schema: unknown): SchemaObject {
  const definitions = isObject(schema) ? schema.$defs : undefined;
  return isObject(definitions) ? definitions : {};
}
