import { isObject } from "../../core/json.ts";
import { definitionsOf, mapSubschemas, parseReference, type SchemaObject } from "../../core/schema/subschemas.ts";

interface Fields {
  readonly properties: SchemaObject;
  readonly required: readonly unknown[];
}

/**
 * An object's schema with the fields of its `allOf`, `anyOf` and `oneOf` among its own: some model providers refuse a whole
 * list of tools for one of these at the root of an input. What else they say is left out, so more values may fit.
 */
export function withAllFields(schema: SchemaObject): SchemaObject {
  const { allOf, anyOf, oneOf, ...own } = schema;
  if ([allOf, anyOf, oneOf].every((parts) => parts === undefined)) return schema;
  const { properties, required } = fieldsOf(schema, definitionsOf(schema));
  return { ...own, properties, ...(required.length > 0 && { required }) };
}

/**
 * An object's schema as people read it: all fields as above, and in each field the keywords of its `allOf`, of which the first
 * counts that says something.
 */
export const toShown = (schema: SchemaObject): SchemaObject => mapSubschemas(withAllFields(schema), join);

function join(schema: SchemaObject): SchemaObject {
  const { allOf, ...own } = mapSubschemas(schema, join);
  if (!Array.isArray(allOf)) return own;
  const { properties, required } = fieldsOf({ ...own, allOf, anyOf: undefined, oneOf: undefined }, {});
  return {
    ...Object.assign({}, ...allOf.filter(isObject).reverse()),
    ...own,
    ...(Object.keys(properties).length > 0 && { properties, required }),
  };
}

/** @param trail the definitions that the schema is a part of */
function fieldsOf(schema: SchemaObject, definitions: SchemaObject, trail: readonly unknown[] = []): Fields {
  const { $ref, properties, required, allOf, anyOf, oneOf } = schema;
  const { definition = "" } = (typeof $ref === "string" && parseReference($ref)) || {};
  const target = definitions[definition];
  const inner = (parts: unknown): Fields[] =>
    (Array.isArray(parts) ? parts.filter(isObject) : [])
      .filter(({ type = "object" }) => [type].flat().includes("object"))
      .map((part) => fieldsOf(part, definitions, [...trail, target]));
  const own = {
    properties: isObject(properties) ? properties : {},
    required: Array.isArray(required) ? required : [],
  };
  const choices = [anyOf, oneOf].map(inner).filter((parts) => parts.length > 0);
  return all([own, ...inner(trail.includes(target) ? [] : [target]), ...inner(allOf), ...choices.map(any)]);
}

/** The fields of an object that fits every part. */
const all = (parts: readonly Fields[]): Fields => ({
  properties: merge(parts, "allOf"),
  required: [...new Set(parts.flatMap(({ required }) => required))],
});

/** The fields of an object that fits one part. */
const any = (parts: readonly Fields[]): Fields => ({
  properties: merge(parts, "anyOf"),
  required: [...new Set(parts.flatMap(({ required }) => required))].filter((name) =>
    parts.every(({ required }) => required.includes(name)),
  ),
});

/** The properties of all parts. One that several parts describe differently has all descriptions below a keyword. */
function merge(parts: readonly Fields[], keyword: "allOf" | "anyOf"): SchemaObject {
  const found = new Map<string, Map<string, unknown>>();
  for (const [name, field] of parts.flatMap(({ properties }) => Object.entries(properties)))
    found.set(name, (found.get(name) ?? new Map()).set(JSON.stringify(field), field));
  return Object.fromEntries(
    [...found].map(([name, given]) => {
      const [first, ...others] = given.values();
      return [name, others.length === 0 ? first : { [keyword]: [first, ...others] }];
    }),
  );
}
