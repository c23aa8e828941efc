import { isObject, type JsonObject } from "../../../../core/json.ts";
import { explainPattern } from "../../../../core/schema/pattern.ts";
import { BRANCHES, fitBranches } from "./fit-branches.ts";
import { asMeant } from "./meant.ts";
import { isLong, readEnum, readTypes, readWords, type WireSide } from "./words.ts";

export interface SchemaTerms {
  readonly side: WireSide;
  /** The new text of a `$ref`. @throws Refused for one that leads nowhere. */
  readonly refer: (reference: string) => string;
  /** Resolves a schema's reference, if it is one. */
  readonly look: (schema: unknown) => JsonObject;
  /** The parts that `convertJoined` has opened around the schema: one may contain itself. */
  readonly opened?: readonly JsonObject[];
}

type Converted = Record<string, unknown>;

/**
 * Converts a schema of OpenAPI 3.0 or 3.1 to JSON Schema 2020-12 that passes a shop's strict check and describes the
 * same values, and those that fit several branches of `oneOf`. Schemas of answers are loosened where an upstream may
 * change without breaking clients: they allow fields that the document does not name.
 */
export function convertSchema(given: unknown, terms: SchemaTerms): JsonObject | boolean {
  if (typeof given === "boolean") return given;
  if (!isObject(given)) return {};
  const schema = asMeant(given);
  if (typeof schema.$ref === "string") return toReference(schema, schema.$ref, terms);
  const named = readTypes(schema);
  const types = named && terms.side === "output" && isLong(schema) ? [...new Set([...named, "string"])] : named;
  const whole: Converted = {
    ...readWords(schema, terms.side),
    ...readEnum(schema, types),
    ...convertFields(schema, terms),
    ...convertParts(schema, terms),
  };
  return withNull(fitBranches(withTypes(whole, types ?? guessTypes(schema, terms))), schema);
}

const BESIDE = ["properties", "allOf", "anyOf", "oneOf"];

/** Whether a schema that references another one has rules of its own, as OpenAPI 3.1 allows (section 4.8.24). */
export const hasOwnRules = (schema: JsonObject): boolean => BESIDE.some((key) => typeof schema[key] === "object");

/** A reference, with its description and with the rules beside it. */
function toReference(schema: JsonObject, reference: string, terms: SchemaTerms): JsonObject | boolean {
  const { $ref, ...own } = schema;
  if (hasOwnRules(own)) {
    const parts = Array.isArray(own.allOf) ? own.allOf : [];
    return convertSchema({ ...own, allOf: [{ $ref }, ...parts] }, terms);
  }
  const { description, nullable } = own;
  const target = { $ref: terms.refer(reference), ...(typeof description === "string" && { description }) };
  return nullable === true ? { anyOf: [target, { type: "null" }] } : target;
}

function convertFields(schema: JsonObject, terms: SchemaTerms): Converted {
  const { properties, required } = schema;
  const { additionalProperties = isBase(schema) || hasFieldsElsewhere(schema) || undefined } = schema;
  // Beside `allOf`, `false` would refuse the fields of its parts.
  const isClosed = additionalProperties === false && terms.side === "input" && !Array.isArray(schema.allOf);
  const isOpen = additionalProperties === undefined || (additionalProperties === false && !isClosed);
  const fields = Object.entries(isObject(properties) ? properties : {});
  const named = fields.filter(([, part]) => isVisible(part, terms));
  const hidden = fields.filter((field) => !named.includes(field)).map(([name]) => name);
  const needed = Array.isArray(required)
    ? [...new Set(required.filter((name) => typeof name === "string" && !hidden.includes(name)))]
    : [];
  // A required field without a schema would be dropped from inputs, and then be missing.
  const unnamed = needed.filter((name) => !named.some(([own]) => own === name));
  return {
    ...(named.length + unnamed.length > 0 && {
      properties: Object.fromEntries([
        ...named.map(([name, part]) => [name, convertSchema(part, terms)]),
        ...unnamed.map((name) => [
          name,
          isObject(additionalProperties) ? convertSchema(additionalProperties, terms) : {},
        ]),
      ]),
    }),
    ...(needed.length > 0 && { required: needed }),
    ...(!isOpen && { additionalProperties: convertSchema(additionalProperties, terms) }),
    ...convertPatternFields(schema, terms),
  };
}

/** Whether a schema is extended by others, which a discriminator tells apart: it has only the fields that all share. */
const isBase = ({ discriminator, anyOf, oneOf }: JsonObject): boolean => isObject(discriminator) && !anyOf && !oneOf;

/** Whether a schema names fields in keywords that are not converted. */
function hasFieldsElsewhere({ then, else: otherwise, dependentSchemas, patternProperties }: JsonObject): boolean {
  const patterns = Object.keys(isObject(patternProperties) ? patternProperties : {});
  return (
    [then, otherwise, dependentSchemas].some(isObject) || patterns.some((one) => explainPattern(one) !== undefined)
  );
}

/** Inputs omit `readOnly` fields, outputs omit `writeOnly` fields. */
function isVisible(part: unknown, { side, look }: SchemaTerms): boolean {
  const { readOnly, writeOnly } = { ...look(part), ...(isObject(part) && part) };
  return (side === "input" ? readOnly : writeOnly) !== true;
}

function convertPatternFields({ patternProperties }: JsonObject, terms: SchemaTerms): Converted {
  if (!isObject(patternProperties)) return {};
  const safe = Object.entries(patternProperties).filter(([pattern]) => explainPattern(pattern) === undefined);
  if (safe.length === 0) return {};
  return { patternProperties: Object.fromEntries(safe.map(([name, part]) => [name, convertSchema(part, terms)])) };
}

function convertParts(schema: JsonObject, terms: SchemaTerms): Converted {
  const { not, contains, propertyNames } = schema;
  const listOf = (key: string): (JsonObject | boolean)[] => {
    const list = schema[key];
    return Array.isArray(list) ? list.map((part) => convertSchema(part, terms)) : [];
  };
  const branches = (["anyOf", "oneOf"] as const).map((key) => [key, listOf(key)] as const);
  const [first, second] = branches.filter(([, parts]) => parts.length > 0);
  // Many documents say "oneOf" of forms that fit the same value. Only lists of needed fields exclude each other.
  const isLoose = terms.side === "output" || !isChoiceOfFields(schema, terms);
  const looser = (key: "anyOf" | "oneOf") => (isLoose ? "anyOf" : key);
  const all = [...convertJoined(schema, terms), ...(second ? [{ [looser(second[0])]: second[1] }] : [])];
  return {
    ...convertItems(schema, terms),
    ...(all.length > 0 && { allOf: all }),
    ...(first && { [looser(first[0])]: first[1] }),
    ...(terms.side === "input" && isObject(not) && { not: convertSchema(not, terms) }),
    ...(terms.side === "input" && isObject(contains) && { contains: convertSchema(contains, terms) }),
    ...(terms.side === "input" && isObject(propertyNames) && { propertyNames: convertSchema(propertyNames, terms) }),
  };
}

/**
 * The schema of items, and those of a tuple, which drafts before 2020-12 write under `items`. A shop's strict check takes
 * only tuples of one length: of others, and of answers, the length alone is checked.
 */
function convertItems(schema: JsonObject, terms: SchemaTerms): Converted {
  const { items, prefixItems, additionalItems, minItems, maxItems } = schema;
  const [first, rest] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items];
  if (!Array.isArray(first) || first.length === 0)
    return items === undefined ? {} : { items: convertSchema(items, terms) };
  const isWhole = minItems === first.length && (maxItems === first.length || rest === false);
  if (!isWhole || terms.side === "output") return items === undefined ? {} : { items: {} };
  return { prefixItems: first.map((part) => convertSchema(part, terms)), items: false };
}

/**
 * The parts of an `allOf`. Where several have fields and some of these are closed to others, as in freee's documents, no input
 * could have the fields of all, which are meant.
 */
function convertJoined({ allOf, ...own }: JsonObject, terms: SchemaTerms): readonly (JsonObject | boolean)[] {
  const { side, look, opened = [] } = terms;
  const parts: readonly unknown[] = Array.isArray(allOf) ? allOf : [];
  const isJoined = side === "input" && [...parts, own].filter((part) => hasOwnRules(look(part))).length > 1;
  return parts.map((part) => {
    const { additionalProperties, ...seen } = look(part);
    const isOpened = isJoined && additionalProperties === false && !opened.includes(look(part));
    return isOpened ? convertSchema(seen, { ...terms, opened: [...opened, look(part)] }) : convertSchema(part, terms);
  });
}

/** Whether the branches of `oneOf` say nothing but which fields are needed. */
const isChoiceOfFields = ({ oneOf }: JsonObject, { look }: SchemaTerms): boolean =>
  Array.isArray(oneOf) &&
  oneOf.map(look).every(({ required, properties, allOf }) => Array.isArray(required) && !properties && !allOf);

/** The keywords of each type. The check requires that a schema that uses them names the type. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  array: ["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  object: [
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
  ],
  string: ["minLength", "maxLength", "pattern", "format"],
};

/**
 * The types of a schema without `type`: those of its keywords, besides which its branches may name others, or `object`
 * when all its parts are objects.
 */
function guessTypes(schema: JsonObject, { look }: SchemaTerms): readonly string[] | undefined {
  const isNamed = (keys: readonly string[]): boolean => keys.some((key) => schema[key] !== undefined);
  const found = Object.keys(KEYWORDS).filter(
    (type) => type !== "string" && type !== "number" && isNamed(KEYWORDS[type] ?? []),
  );
  const branches = [schema.anyOf, schema.oneOf].flatMap((parts) => (Array.isArray(parts) ? parts : []));
  const others = branches.flatMap((part) => readTypes(look(part)) ?? []);
  if (found.length > 0) return [...new Set([...found, ...others])];
  return isObjectOnly(schema, look) ? ["object"] : undefined;
}

const DEEPEST = 12;

/** Whether every value of a schema is an object, as far as its keywords tell. */
export function isObjectOnly(schema: unknown, look: SchemaTerms["look"], depth = 0): boolean {
  const seen = asMeant(look(schema));
  if (depth > DEEPEST || seen.nullable === true) return false;
  const types = readTypes(seen);
  if (types) return types.every((type) => type === "object");
  if (isObject(seen.properties)) return true;
  const isIt = (part: unknown): boolean => isObjectOnly(part, look, depth + 1);
  if (Array.isArray(seen.allOf) && seen.allOf.some(isIt)) return true;
  return [seen.anyOf, seen.oneOf].some((parts) => Array.isArray(parts) && parts.length > 0 && parts.every(isIt));
}

/** Adds the types, and drops keywords of other types. */
function withTypes(schema: Converted, types: readonly string[] | undefined): Converted {
  const kept = { ...schema };
  const isMeant = (type: string): boolean =>
    types === undefined
      ? type === "string" || type === "number"
      : types.some((own) => own.replace("integer", "number") === type);
  for (const [type, keys] of Object.entries(KEYWORDS)) if (!isMeant(type)) for (const key of keys) delete kept[key];
  if (types) return { type: types.length === 1 ? types[0] : types, ...kept };
  const used = Object.keys(KEYWORDS).filter((type) => KEYWORDS[type]?.some((key) => key in kept));
  return used.length > 0 ? { type: used.length === 1 ? used[0] : used, ...kept } : kept;
}

/** Applies OpenAPI 3.0's `nullable` to a schema with branches: documents mean the whole, of which no branch may take null. */
function withNull(schema: Converted, { nullable }: JsonObject): Converted {
  if (nullable !== true || !Object.keys(schema).some((key) => BRANCHES.includes(key))) return schema;
  return { anyOf: [schema, { type: "null" }] };
}
