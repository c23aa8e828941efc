import { isBlank, withStop } from "../../api/text.ts";
import { escapeStep, isObject } from "../../core/json.ts";
import { mapSubschemas, type SchemaObject } from "../../core/schema/subschemas.ts";

interface Fields {
  readonly properties: SchemaObject;
  readonly required: readonly unknown[];
}

/**
 * An object's schema with the fields of its `allOf`, `anyOf` and `oneOf` among its own: some model providers refuse a whole
 * list of tools for one of these at the root of an input. What else they say is left out, so more values may fit.
 */
export function withAllFields(schema: SchemaObject): SchemaObject {
  const { allOf, anyOf, oneOf, description, ...own } = schema;
  if ([allOf, anyOf, oneOf].every((parts) => parts === undefined)) return schema;
  const { properties, required } = fieldsOf(schema, toDefinitions(schema));
  const said = typeof description === "string" && !isBlank(description) ? [withStop(description)] : [];
  const needs = needsOf(schema);
  return {
    ...own,
    ...(description !== undefined && { description }),
    ...(needs !== undefined && { description: [...said, needs].join(" ") }),
    properties,
    ...(required.length > 0 && { required }),
  };
}

/** The fields of which an object needs some, where each of its alternatives needs others: `Needs url, or text.` */
export function needsOf(schema: SchemaObject): string | undefined {
  for (const parts of [schema.anyOf, schema.oneOf]) {
    const lists = readFields(parts, (part) => fieldsOf(part, toDefinitions(schema))).map(({ required }) => required);
    const own = lists.map((list) => list.filter((name) => !lists.every((other) => other.includes(name))));
    if (own.length > 0 && own.every((list) => list.length > 0))
      return `Needs ${own.map((list) => list.join(" and ")).join(", or ")}.`;
  }
  return undefined;
}

/** The schema with an object for each field: by MCP's types, clients refuse a whole list of tools for one `true` in it. */
export function withObjects(schema: SchemaObject): SchemaObject {
  if (!isObject(schema.properties)) return schema;
  const fields = Object.entries(schema.properties).map(([name, field]) => [name, toObject(field)]);
  return { ...schema, properties: Object.fromEntries(fields) };
}

const toObject = (field: unknown): unknown => (typeof field === "boolean" ? (field ? {} : { not: {} }) : field);

/**
 * An object's schema as people read it: all fields as above, and in each field the keywords of its `allOf`, of which the first
 * counts that says something, and the values that are alternatives as one list, or the fields of all objects that are.
 */
export const toShown = (schema: SchemaObject): SchemaObject => mapSubschemas(withAllFields(schema), join);

function join(schema: SchemaObject): SchemaObject {
  const { allOf, ...own } = withOneObject(withValues(mapSubschemas(schema, join)));
  if (!Array.isArray(allOf)) return own;
  const { properties, required } = fieldsOf({ ...own, allOf, anyOf: undefined, oneOf: undefined }, new Map());
  return {
    ...Object.assign({}, ...allOf.filter(isObject).reverse()),
    ...own,
    ...(Object.keys(properties).length > 0 && { properties, required }),
  };
}

/** The schema with an `enum` in the place of several alternatives that are each a value, or a list of some. */
function withValues(schema: SchemaObject): SchemaObject {
  const { anyOf, oneOf, ...own } = schema;
  const alternatives = anyOf ?? oneOf;
  const isOther = "enum" in own || (anyOf !== undefined && oneOf !== undefined);
  if (isOther || !Array.isArray(alternatives)) return schema;
  const values = alternatives.map(valuesOf);
  const areSeveral = values.filter((one) => one !== NULL).length > 1;
  return areSeveral && !values.includes(undefined) ? { ...own, enum: values.flat() } : schema;
}

/** The schema of one object in the place of several that are alternatives. */
function withOneObject(schema: SchemaObject): SchemaObject {
  const { anyOf, oneOf, ...own } = schema;
  const alternatives = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const others = alternatives.filter((one) => !isObject(one) || one.type !== "null");
  if (others.length < 2 || !others.every(isOfObject)) return schema;
  const { properties, required } = fieldsOf(schema, new Map());
  const fields = Object.entries(properties).map(([name, field]) => [name, isObject(field) ? withValues(field) : field]);
  const type = others.length < alternatives.length ? ["object", "null"] : "object";
  return { ...own, type, properties: Object.fromEntries(fields), required };
}

const isOfObject = (schema: unknown): boolean =>
  isObject(schema) && (schema.type ?? (isObject(schema.properties) && "object")) === "object";

const NULL: readonly unknown[] = [null];

function valuesOf(schema: unknown): readonly unknown[] | undefined {
  if (!isObject(schema)) return undefined;
  if ("const" in schema) return [schema.const];
  if (Array.isArray(schema.enum)) return schema.enum;
  return schema.type === "null" ? NULL : undefined;
}

/** @param definitions by reference: one that contains itself, or many others, is read once, and what it requires is kept */
function fieldsOf(schema: SchemaObject, definitions: Map<unknown, unknown>): Fields {
  const { $ref, properties, required, allOf, anyOf, oneOf } = schema;
  const target = definitions.get($ref);
  definitions.delete($ref);
  const inner = (parts: unknown): Fields[] => readFields(parts, (part) => fieldsOf(part, definitions));
  const own = {
    properties: isObject(properties) ? properties : {},
    required: Array.isArray(required) ? required : [],
  };
  const referred = inner([target]);
  for (const { required: needed } of referred) definitions.set($ref, { required: needed });
  const choices = [anyOf, oneOf].map(inner).filter((parts) => parts.length > 0);
  return all([own, ...referred, ...inner(allOf), ...choices.map(any)]);
}

/** The fields of each schema in a list that takes an object; `true` takes any. */
const readFields = (parts: unknown, read: (part: SchemaObject) => Fields): Fields[] =>
  (Array.isArray(parts) ? parts : [])
    .map((part) => (part === true ? {} : part))
    .filter(isObject)
    .filter(({ type = "object" }) => [type].flat().includes("object"))
    .map(read);

/** The definitions of a schema by how a part refers to them; older versions have another word for them. */
const toDefinitions = (schema: SchemaObject): Map<unknown, unknown> =>
  new Map(
    ["definitions", "$defs"].flatMap((word) => {
      const given = schema[word];
      const parts = Object.entries(isObject(given) ? given : {});
      return parts.map(([name, part]) => [`#/${word}/${escapeStep(name)}`, part] as const);
    }),
  );

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
