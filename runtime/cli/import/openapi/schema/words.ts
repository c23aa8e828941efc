import { hasExactIntegers, isObject, type JsonObject } from "../../../../core/json.ts";
import { explainPattern } from "../../../../core/schema/pattern.ts";

/** Whether a schema describes a request or an answer. */
export type WireSide = "input" | "output";

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
/** Words that documents use instead of JSON Schema's types. */
const MEANT: Readonly<Record<string, string>> = {
  bool: "boolean",
  date: "string",
  datetime: "string",
  "date-time": "string",
  double: "number",
  file: "string",
  float: "number",
  int: "integer",
  int32: "integer",
  int64: "integer",
  list: "array",
  long: "integer",
  str: "string",
  text: "string",
  uuid: "string",
};

/**
 * The types that a schema names; undefined when it names no known one. A number that is one of several words is a text, and
 * `int-or-string` is Kubernetes' word for both, which it calls texts.
 */
export function readTypes({ type, format, nullable, enum: listed }: JsonObject): readonly string[] | undefined {
  const named = [type, type === "string" && format === "int-or-string" ? "integer" : undefined]
    .flat()
    .flatMap((word) => {
      const plain = typeof word === "string" ? word.toLowerCase() : "";
      const known = TYPES.includes(plain) ? plain : Object.hasOwn(MEANT, plain) ? MEANT[plain] : undefined;
      if (known === undefined) return [];
      return /^(?:number|integer)$/.test(known) && isOfWords(listed) ? ["string"] : [known];
    });
  if (named.length === 0) return undefined;
  const mayBeNull = nullable === true || (Array.isArray(listed) && listed.includes(null));
  return [...new Set(mayBeNull ? [...named, "null"] : named)];
}

const isOfWords = (listed: unknown): boolean =>
  Array.isArray(listed) && listed.length > 0 && listed.every((value) => typeof value === "string" && !isNumber(value));

/** Whether a text is a number as JSON writes it. */
const isNumber = (text: string): boolean => text !== "" && String(Number(text)) === text;

const LONG = /^(?:u?int64|long)$/i;

/**
 * Whether a schema takes any integer of 64 bits, by its format or its maximum: those that JavaScript would round are texts of
 * their digits.
 */
export const isLong = (schema: JsonObject): boolean =>
  ([schema.format, schema.type].flat().some((word) => LONG.test(String(word))) ||
    (schema.type === "integer" && Number(schema.maximum) > Number.MAX_SAFE_INTEGER)) &&
  readTypes(schema)?.some((type) => type === "integer" || type === "number") === true &&
  !(Number(schema.maximum) <= Number.MAX_SAFE_INTEGER || "enum" in schema || "const" in schema);

/**
 * The schema of a parameter that is such an integer or a list of them: each may be a text of its digits. Undefined for any
 * other parameter. @param look resolves a reference
 */
export function orDigits(schema: JsonObject, look: (schema: unknown) => JsonObject): JsonObject | undefined {
  if (isLong(schema)) return { ...schema, type: [schema.type, "string"].flat(), pattern: "^-?[0-9]{1,20}$" };
  const items = look(schema.items);
  return isLong(items) ? { ...schema, items: orDigits(items, look) } : undefined;
}

/** The formats that are enforced on inputs. */
const CHECKED = ["date-time", "date", "email", "uuid", "uri", "ipv4", "ipv6", "hostname"];

/**
 * A UUID has 36 characters; another text called so is another kind of id. Where the values are listed, only addresses are
 * held to their format.
 */
function isChecked({ format, minLength, maxLength, enum: listed }: JsonObject): boolean {
  if (format === "uuid" && ((toNumber(maxLength) ?? 36) < 36 || (toNumber(minLength) ?? 36) > 36)) return false;
  const known = toFormat(format);
  return CHECKED.includes(known) && (listed === undefined || known === "uri");
}

/** The texts that a document itself gives for a schema: a keyword that one of them breaks is not meant so. */
const ownTexts = ({ enum: listed, example, examples }: JsonObject): readonly string[] =>
  [listed, example, examples].flat().filter((value) => typeof value === "string");

/** Many documents say `url`: such a field is an address as well, and callers must not lead it to the inside. */
const toFormat = (format: unknown): string => String(format).replace(/^ur[il]$/i, "uri");

const LENGTHS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

/** The keywords without subschemas, in the dialect 2020-12, except for those that the strict check refuses. */
export function readWords(schema: JsonObject, side: WireSide): Record<string, unknown> {
  return {
    ...readTexts(schema, side),
    ...readLengths(schema),
    ...readNumbers(schema),
    ...readPattern(schema),
    ...(side === "input" && isChecked(schema) && { format: toFormat(schema.format) }),
    ...("const" in schema && { const: schema.const }),
    ...(schema.uniqueItems === true && { uniqueItems: true }),
    ...(typeof schema.contentEncoding === "string" && { contentEncoding: schema.contentEncoding }),
    ...(typeof schema.contentMediaType === "string" && { contentMediaType: schema.contentMediaType }),
    ...readExamples(schema),
  };
}

/**
 * A default is only described in words: the upstream applies it, and an answer must not contain what the upstream did
 * not send.
 */
function readTexts(schema: JsonObject, side: WireSide) {
  const { title, description, deprecated, format, default: usual } = schema;
  const isKept = side === "input" && isChecked(schema);
  const hints = [
    typeof format === "string" && !isKept && /^(?!int\d+$|float$|double$)[\w.-]{1,32}$/.test(format)
      ? `Format: ${format}.`
      : "",
    usual !== undefined && usual !== null && usual !== "" ? `Default: ${toShort(usual)}` : "",
  ];
  const text = [typeof description === "string" ? description.trim() : "", ...hints].filter((part) => part !== "");
  return {
    ...(typeof title === "string" && title !== "" && { title }),
    ...(text.length > 0 && { description: text.join(" ") }),
    ...(deprecated === true && { deprecated: true }),
  };
}

const toShort = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > 80 ? `${text.slice(0, 80)}...` : `${text}.`;
};

function readLengths(schema: JsonObject): Record<string, number> {
  const found = Object.fromEntries(
    LENGTHS.flatMap((key) => {
      const value = toNumber(schema[key]);
      return value !== undefined && Number.isInteger(value) && value >= 0 ? [[key, value]] : [];
    }),
  );
  const lengths = ownTexts(schema).map((text) => [...text].length);
  if (lengths.some((length) => length < (found.minLength ?? 0))) delete found.minLength;
  if (lengths.some((length) => length > (found.maxLength ?? Number.POSITIVE_INFINITY))) delete found.maxLength;
  for (const what of ["Length", "Items", "Properties"])
    if ((found[`min${what}`] ?? 0) > (found[`max${what}`] ?? Number.POSITIVE_INFINITY)) delete found[`max${what}`];
  return found;
}

/** OpenAPI 3.0 has `exclusiveMinimum: true` beside `minimum`; later versions follow JSON Schema. */
function readNumbers(schema: JsonObject): Record<string, number> {
  const found: Record<string, number> = {};
  for (const key of NUMBERS) {
    const value = toNumber(schema[key]);
    if (value !== undefined) found[key] = value;
  }
  for (const [bound, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    if (schema[exclusive] !== true || found[bound] === undefined) continue;
    found[exclusive] = found[bound];
    delete found[bound];
  }
  // Multiples of 0.01 cannot be checked exactly in binary fractions.
  if (!Number.isInteger(found.multipleOf) || (found.multipleOf ?? 0) <= 0) delete found.multipleOf;
  return found;
}

function toNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/**
 * A pattern. Some documents write `/^a$/`, as in JavaScript. A pattern that malicious texts could slow down is omitted.
 */
function readPattern(schema: JsonObject): { readonly pattern?: string } {
  const { pattern, maxLength } = schema;
  if (typeof pattern !== "string") return {};
  const plain = /^\/\^.*\$\/$/.test(pattern) ? pattern.slice(1, -1) : pattern;
  if (explainPattern(plain, toNumber(maxLength)) !== undefined) return {};
  const meant = new RegExp(plain, "u");
  return ownTexts(schema).every((text) => meant.test(text)) ? { pattern: plain } : {};
}

function readExamples({ example, examples = [] }: JsonObject): { readonly examples?: readonly unknown[] } {
  const given = example !== undefined ? [example] : Array.isArray(examples) ? examples : [];
  const kept = given.filter(hasExactIntegers);
  return kept.length > 0 ? { examples: kept } : {};
}

/**
 * The allowed values without duplicates. They become texts when only texts are allowed, because YAML reads `1` as a
 * number, and numbers or booleans when only those are, because some documents write all values as texts.
 */
export function readEnum(schema: JsonObject, types: readonly string[] | undefined): { readonly enum?: unknown[] } {
  const { enum: listed } = schema;
  if (!Array.isArray(listed) || listed.length === 0) return {};
  const isText = types?.includes("string") && !types.some((type) => /number|integer|boolean/.test(type));
  const isPlain = types?.every((type) => /^(?:number|integer|boolean|null)$/.test(type));
  const values = listed.map((value) => {
    if (isText && !isObject(value) && value !== null) return String(value);
    return isPlain && typeof value === "string" ? toPlainValue(value) : value;
  });
  const all = types?.includes("null") ? [...values, null] : values;
  return { enum: [...new Map(all.map((value) => [JSON.stringify(value), value])).values()] };
}

/** The number or the boolean that a text names; any other text is left as it is. */
const toPlainValue = (text: string): unknown =>
  isNumber(text) ? Number(text) : /^(?:true|false)$/.test(text) ? text === "true" : text;
