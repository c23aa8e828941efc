import { mapSubschemas, type SchemaObject } from "../../core/schema/subschemas.ts";

const PROSE = ["title", "description", "examples", "x-message"];
const DETAILS = ["$comment", "default", "format", "pattern"];
/** Keywords that make a schema wrong when anything below them is removed. */
const EXACT = [
  "not",
  "if",
  "then",
  "else",
  "maxContains",
  "dependentSchemas",
  "unevaluatedItems",
  "unevaluatedProperties",
];
const TYPES = ["type", "properties", "required", "items", "prefixItems", "enum", "const", "anyOf", "oneOf"];

/** The schema without its texts for people. */
export const withoutProse = (schema: SchemaObject): SchemaObject => keep(schema, (keyword) => !PROSE.includes(keyword));

/** The schema without texts, defaults, patterns and formats. A value that fits the schema also fits this one. */
export const toLean = (schema: SchemaObject): SchemaObject => toLoose(schema, toLean, isLean);

/** The names and types of the schema. A value that fits the schema also fits this one. */
export const toTypes = (schema: SchemaObject): SchemaObject =>
  toLoose(schema, toTypes, (keyword) => TYPES.includes(keyword));

/** Names and types down to a depth; deeper values may have any form. Values that are listed need no type. */
export function toOutline(schema: SchemaObject, depth: number): SchemaObject {
  const entries = Object.entries(toTypes(schema));
  const isListed = "enum" in schema || "const" in schema;
  const kept = entries.filter(
    ([keyword]) =>
      (depth > 0 || ["type", "enum", "const", "anyOf"].includes(keyword)) && !(isListed && keyword === "type"),
  );
  const outline = mapSubschemas(Object.fromEntries(kept), (part, keyword) =>
    toOutline(part, keyword === "anyOf" ? depth : depth - 1),
  );
  return mergeTypes(outline);
}

/** Alternatives that only name types become one list of types. */
function mergeTypes({ anyOf, ...rest }: SchemaObject): SchemaObject {
  const parts = Array.isArray(anyOf) ? (anyOf as SchemaObject[]) : [];
  const areTypes = parts.length > 0 && parts.every((part) => Object.keys(part).join() === "type");
  if (!areTypes || "type" in rest) return anyOf === undefined ? rest : { ...rest, anyOf };
  return { ...rest, type: [...new Set(parts.flatMap(({ type }) => type))] };
}

const isLean = (keyword: string): boolean => ![...PROSE, ...DETAILS, ...EXACT].includes(keyword);

/** `oneOf` becomes `anyOf`: without their details, several alternatives may match at once. */
function toLoose(
  schema: SchemaObject,
  map: (schema: SchemaObject) => SchemaObject,
  isKept: (keyword: string) => boolean,
): SchemaObject {
  const { oneOf, ...rest } = Object.fromEntries(Object.entries(schema).filter(([keyword]) => isKept(keyword)));
  const all = oneOf === undefined ? rest : "anyOf" in rest ? rest : { ...rest, anyOf: oneOf };
  return mapSubschemas(all, map);
}

function keep(schema: SchemaObject, isKept: (keyword: string) => boolean): SchemaObject {
  const entries = Object.entries(schema).filter(([keyword]) => isKept(keyword));
  return mapSubschemas(Object.fromEntries(entries), (part) => keep(part, isKept));
}
