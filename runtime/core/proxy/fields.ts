import { isObject, type JsonObject } from "../json.ts";
import { parseReference, type Schemas, toRootSchema } from "../schema/subschemas.ts";
import type { Draft } from "../set/draft.ts";

/** The fields of a service's input or output that its schema names. */
export interface Fields {
  /** The names of the outermost fields. */
  readonly names: readonly string[];
  /** Whether unnamed fields are allowed. */
  readonly areOpen: boolean;
  /** A field by its name or its dotted path; undefined when the schema does not name it. */
  find(name: string): FieldFacts | undefined;
}

/** What a schema says about a field. */
export interface FieldFacts {
  /** The JSON types; empty when the schema does not restrict them. */
  readonly types: readonly string[];
  /** Whether every valid value has the field. */
  readonly isCertain: boolean;
}

/** Reads the fields of a manifest's schema; undefined when the schema has faults. */
export function readFields(draft: Draft, part: "input" | "output", schemas: Schemas): Fields | undefined {
  const root = toRootSchema(draft.data[part], schemas);
  if (!root) return undefined;
  const named = isObject(root.properties) ? root.properties : {};
  const isFree = (node: JsonObject): boolean =>
    ["allOf", "anyOf", "oneOf", "$ref", "patternProperties", "if"].some((key) => key in node) ||
    (node.additionalProperties !== undefined && node.additionalProperties !== false) ||
    node.properties === undefined;
  const resolve = (node: unknown): JsonObject | undefined => {
    const { name, definition } = (isObject(node) && typeof node.$ref === "string" && parseReference(node.$ref)) || {};
    if (name !== undefined && definition === undefined) return resolve(schemas.documents.get(name));
    if (node === true) return {};
    return isObject(node) ? node : undefined;
  };
  const look = (node: JsonObject, steps: readonly string[], isCertain: boolean): FieldFacts | undefined => {
    const [step, ...rest] = steps;
    if (step === undefined) return { types: typesOf(node), isCertain };
    const own = isObject(node.properties) && Object.hasOwn(node.properties, step) ? node.properties[step] : undefined;
    const next = resolve(own);
    if (!next) return isFree(node) ? { types: [], isCertain: false } : undefined;
    const required = Array.isArray(node.required) ? node.required : [];
    return look(next, rest, isCertain && (required.includes(step) || "default" in next));
  };
  return {
    names: Object.keys(named),
    areOpen: isFree(root),
    find: (name) => look(root, Object.hasOwn(named, name) ? [name] : name.split("."), true),
  };
}

const typesOf = ({ type }: JsonObject): string[] => [type ?? []].flat().filter((one) => typeof one === "string");
