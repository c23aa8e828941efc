import { isObject } from "../../core/json.ts";
import { mapSubschemas, type SchemaObject, subschemas } from "../../core/schema/subschemas.ts";

/** `taken`: a handler's input, with defaults filled in. `returned`: a handler's output, without. */
export type Side = "taken" | "returned";

/** The keywords that affect a TypeScript type. All others only narrow values. */
const KINDS = [
  "type",
  "const",
  "enum",
  "anyOf",
  "oneOf",
  "allOf",
  "properties",
  "patternProperties",
  "items",
  "tsType",
];
const KEPT = new Set([
  ...KINDS,
  "description",
  "required",
  "additionalProperties",
  "additionalItems",
  "minItems",
  "maxItems",
]);
const LONGEST_TUPLE = 4;

/** Whether any part of the schema has an optional field with a default. */
export const hasDefaults = (schema: unknown): boolean =>
  [...subschemas(schema)].some(({ schema: part }) => defaultsOf(part).length > 0);

/**
 * A schema in the dialect of json-schema-to-typescript, which reads an older draft and inlines references. References
 * become names of types, and keywords that no type can express are dropped.
 * @param refer returns the type name of a `$ref`.
 */
export function toTypeSchema(schema: SchemaObject, side: Side, refer: (reference: string) => string): SchemaObject {
  const inner = mapSubschemas(schema, (part, keyword) =>
    toTypeSchema(part, isOneOfMany(schema, keyword) ? "returned" : side, refer),
  );
  const { $ref, description } = inner;
  if (typeof $ref === "string") return { tsType: refer($ref), ...(description !== undefined && { description }) };
  const required = [...((inner.required as string[]) ?? []), ...(side === "taken" ? defaultsOf(schema) : [])];
  const written = {
    ...toTuple(inner),
    ...withoutOpenBranches(inner),
    ...(required.length > 0 && { required }),
    ...(isFreeForm(inner) && { additionalProperties: true }),
  };
  const kept = Object.fromEntries(
    Object.entries(written).filter(([key, value]) => KEPT.has(key) && value !== undefined),
  );
  return saysKind(kept) ? kept : { ...kept, tsType: "unknown" };
}

/** Defaults inside one of several alternatives are not filled in, because the alternative is determined too late. */
function isOneOfMany(schema: SchemaObject, keyword: string): boolean {
  const branches = keyword === "anyOf" || keyword === "oneOf" ? (schema[keyword] as readonly unknown[]) : [];
  return branches.filter((branch) => !isObject(branch) || branch.type !== "null").length > 1;
}

function defaultsOf({ properties, required = [] }: SchemaObject): string[] {
  const fields = Object.entries(isObject(properties) ? properties : {});
  const filled = fields.filter(([, field]) => isObject(field) && "default" in field).map(([name]) => name);
  return filled.filter((name) => !(required as string[]).includes(name));
}

/** Whether an object schema names no fields and so allows any. */
function isFreeForm({ type, properties, ...rest }: SchemaObject): boolean {
  const isNamed = isObject(properties) && Object.keys(properties).length > 0;
  return type === "object" && !isNamed && !["additionalProperties", ...KINDS].some((keyword) => keyword in rest);
}

/** A list of fixed length is a tuple; other bounds are dropped, because they would become unions of all lengths. */
function toTuple({ prefixItems, minItems, maxItems, ...rest }: SchemaObject): SchemaObject {
  if (Array.isArray(prefixItems)) return { ...rest, items: prefixItems, additionalItems: rest.items ?? true, minItems };
  const isFixed = minItems === maxItems && typeof minItems === "number" && minItems <= LONGEST_TUPLE;
  return isFixed ? { ...rest, minItems, maxItems } : rest;
}

/** Drops alternatives when one of them allows anything, and members of `allOf` that only narrow. */
function withoutOpenBranches({ anyOf, oneOf, allOf }: SchemaObject): SchemaObject {
  const closed = (branches: unknown): unknown =>
    Array.isArray(branches) && branches.every(isTelling) ? branches : undefined;
  const telling = Array.isArray(allOf) ? allOf.filter(isTelling) : [];
  return { anyOf: closed(anyOf), oneOf: closed(oneOf), allOf: telling.length > 0 ? telling : undefined };
}

const isTelling = (schema: unknown): boolean => isObject(schema) && schema.tsType !== "unknown";

const saysKind = (schema: SchemaObject): boolean => KINDS.some((keyword) => keyword in schema);
