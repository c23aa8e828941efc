import { isObject, type JsonObject } from "../../core/json.ts";

const DEEPEST = 12;
/** The schemas that are read for one example: of those that need themselves, there would be no end. */
const MOST_READ = 10_000;
const LISTS = ["anyOf", "oneOf"] as const;
const ANNOTATIONS = ["title", "description", "deprecated", "readOnly", "writeOnly"];

/**
 * A schema, without references and branches, of the smallest values that fit: the required fields only, and one branch
 * of each choice.
 * @param documents by name. @param choice the index of the branch.
 */
export function toSmallest(schema: unknown, documents: ReadonlyMap<string, object>, choice: number): JsonObject {
  return makeSmallest(schema, { documents, choice, depth: 0, left: { count: MOST_READ } });
}

interface Terms {
  readonly documents: ReadonlyMap<string, object>;
  readonly choice: number;
  readonly depth: number;
  /** The schemas that may still be read. */
  readonly left: { count: number };
}

const toDeeper = (terms: Terms): Terms => ({ ...terms, depth: terms.depth + 1 });

function makeSmallest(schema: unknown, terms: Terms): JsonObject {
  const whole = merge(schema, terms);
  const { properties, required, items, prefixItems, minProperties = 0, minItems = 0, ...rest } = whole;
  const kept = Object.fromEntries(Object.entries(rest).filter(([key]) => !ANNOTATIONS.includes(key)));
  if (terms.depth > DEEPEST) return {};
  const next = (part: unknown): JsonObject => makeSmallest(part, toDeeper(terms));
  const fields = isObject(properties) ? properties : {};
  const needed = Array.isArray(required) ? required.map(String) : [];
  const further = Object.keys(fields).filter((name) => !needed.includes(name));
  const named = [...needed, ...further.slice(0, Math.max(0, Number(minProperties) - needed.length))];
  const other = isObject(kept.additionalProperties) ? kept.additionalProperties : undefined;
  const unnamed = kept.additionalProperties === false ? [] : toNames(Number(minProperties), named);
  const taken = [...named, ...unnamed];
  const schemaOf = (name: string): unknown => fields[name] ?? other ?? (unnamed.includes(name) ? TEXT : undefined);
  const usual = terms.choice < USUAL ? usualOf(kept) : undefined;
  const isList = kept.type === undefined ? Array.isArray(prefixItems) : [kept.type].flat().includes("array");
  return {
    ...kept,
    ...(usual === undefined ? toShortText(kept) : { const: usual }),
    ...(Number(kept.maximum) > Number.MAX_SAFE_INTEGER && { maximum: Number.MAX_SAFE_INTEGER }),
    ...(taken.length > 0 && {
      properties: Object.fromEntries(taken.map((name) => [name, next(schemaOf(name))])),
      required: taken,
    }),
    ...(isList && { ...toItems(items, prefixItems, Number(minItems), next), minItems, maxItems: minItems }),
  };
}

const TEXT = { type: "string" };
const MOST_UNNAMED = 16;

/** Names of fields that a mapping needs beside those that the schema names. */
const toNames = (least: number, named: readonly string[]): string[] =>
  Array.from({ length: Math.min(least, MOST_UNNAMED + named.length) }, (_, at) => `name_${at + 1}`)
    .filter((name) => !named.includes(name))
    .slice(0, Math.max(0, least - named.length));

/** The schemas of a list's items: those of a tuple stand first, and the others follow them. */
function toItems(items: unknown, first: unknown, count: number, next: (part: unknown) => JsonObject): JsonObject {
  const parts = (Array.isArray(first) ? first : []).slice(0, count).map(next);
  return { ...(parts.length > 0 && { prefixItems: parts }), ...(count > parts.length && { items: next(items) }) };
}

const SHORT = 16;
const FORMS = new Set(["date-time", "email", "hostname", "ipv6", "uri", "uri-reference", "url", "uuid"]);
/** Values as people write them; the first that fits is taken. */
const WORDS = ["example", "EXAMPLE", "text", "USD", "US", "en", "10.00", "10", "1"];
const TIMES = ["2026-01-31T12:00:00Z", "2026-01-31", "2026-01", "12:00"];
const ADDRESSES = ["name@example.com", "https://example.com", "+12025550100", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"];
const TEXTS = [...WORDS, ...TIMES, ...ADDRESSES];
const NUMBERS = [1, 10, 100, 1000, 0];
/** The choices in which values are as people write them: in the others, they may fit rules that these do not. */
const USUAL = 4;
/** What says more of a value than its form. */
const TOLD = ["const", "enum", "examples", "default"];

function usualOf(schema: JsonObject): string | number | undefined {
  const { type, minLength = 0, maxLength, pattern = "", minimum, maximum, multipleOf = 1, ...rest } = schema;
  if (TOLD.some((key) => key in schema)) return undefined;
  const types = [type].flat();
  const rule = new RegExp(String(pattern), "u");
  const isText = (text: string): boolean =>
    text.length >= Number(minLength) && !(text.length > Number(maxLength)) && rule.test(text);
  const isNumber = (one: number): boolean =>
    !(one < Number(minimum) || one > Number(maximum)) &&
    !(one <= Number(rest.exclusiveMinimum) || one >= Number(rest.exclusiveMaximum)) &&
    Number.isInteger(one / Number(multipleOf));
  if (types.includes("string")) return rest.format === undefined ? TEXTS.find(isText) : undefined;
  return types.includes("number") || types.includes("integer") ? NUMBERS.find(isNumber) : undefined;
}

/** Texts of any length up to the longest would be made otherwise, but for those that have a form of their own. */
const toShortText = ({ maxLength, minLength = 0, pattern, format }: JsonObject): JsonObject =>
  Number(maxLength) > SHORT && pattern === undefined && !FORMS.has(String(format))
    ? { maxLength: Math.max(SHORT, Number(minLength)) }
    : {};

/**
 * Merges a schema with everything that it references or combines. Later keywords override earlier ones, and fields are
 * united.
 */
function merge(schema: unknown, terms: Terms): JsonObject {
  const { documents, choice, depth, left } = terms;
  if (!isObject(schema) || depth > DEEPEST || left.count === 0) return {};
  left.count -= 1;
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const branches = [
    ...(typeof $ref === "string" ? [documents.get($ref.replace(/\.json.*$/, ""))] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    ...LISTS.flatMap((key) => {
      const list = key === "anyOf" ? anyOf : oneOf;
      return Array.isArray(list) && list.length > 0 ? [list[choice % list.length]] : [];
    }),
  ];
  return branches.reduce<JsonObject>((whole, branch) => unite(whole, merge(branch, toDeeper(terms)), terms), own);
}

function unite(one: JsonObject, other: JsonObject, terms: Terms): JsonObject {
  const [first, second] = [one, other].map(({ properties }) => (isObject(properties) ? properties : {})) as [
    JsonObject,
    JsonObject,
  ];
  const both = Object.keys(second).map((name) => [
    name,
    name in first ? merge({ allOf: [first[name], second[name]] }, toDeeper(terms)) : second[name],
  ]);
  const required = [one.required, other.required].flatMap((names) => (Array.isArray(names) ? names : []));
  return {
    ...one,
    ...other,
    properties: { ...first, ...Object.fromEntries(both) },
    required: [...new Set(required)],
  };
}
