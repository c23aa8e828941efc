import { isObject, type JsonObject } from "../../../core/json.ts";
import { SENT_HEADER } from "../../../core/set/grammar.ts";
import type { Pointers } from "./pointers.ts";

/** A parameter, with everything that determines how it is written. */
export interface Parameter {
  readonly place: string;
  readonly wireName: string;
  readonly own: JsonObject;
  readonly schema: JsonObject;
  /** Set when callers give the text that is sent. */
  readonly text: ParameterText | undefined;
}

/** A value that callers write themselves. */
export interface ParameterText {
  /** How it is written. */
  readonly note: string;
  readonly examples: readonly unknown[];
}

/** The form of a parameter: query parameters, or the text of a path or a header with `{}` in place of the field. */
export type Written =
  | { readonly text: string; readonly query?: undefined }
  | { readonly query: Readonly<Record<string, string>>; readonly text?: undefined };

/**
 * The form of a parameter in a request (OpenAPI 3.1, section 4.8.12.3); a string explains why no template can express
 * it.
 */
export function toWritten(parameter: Parameter, pointers: Pointers): Written | string {
  const { place, wireName, text } = parameter;
  if (place === "cookie") return "a cookie";
  if (place === "header")
    return SENT_HEADER.test(wireName) ? inHeader(parameter, pointers) : "a header of an unusual name";
  if (place === "path") return inPath(parameter, pointers);
  return text ? { query: { [wireName]: "{}" } } : inQuery(parameter, pointers);
}

const DEEPEST = 8;

/** A schema, or the one schema that it wraps: by a reference, in an `allOf`, or in a choice between it and `null`. */
export function toBare(schema: unknown, pointers: Pointers, depth = 0): JsonObject {
  const seen = pointers.object(schema);
  const [part, ...others] = partsOf(seen, pointers);
  const isWrapped = part && others.length === 0 && depth < DEEPEST && typesOf(seen).length === 0;
  return isWrapped ? toBare(part, pointers, depth + 1) : seen;
}

/**
 * `object`, `array`, or another type. A choice between a list and a single value is an `array`, since both are written
 * in the same way; any other choice is of its first type.
 */
export function kindOf(schema: unknown, pointers: Pointers, depth = 0): string {
  const seen = toBare(schema, pointers);
  const parts = depth < DEEPEST ? partsOf(seen, pointers).map((part) => kindOf(part, pointers, depth + 1)) : [];
  const kinds = typesOf(seen).length > 0 ? typesOf(seen) : parts.filter((kind) => kind !== "");
  if (!kinds.includes("object")) return kinds.includes("array") ? "array" : (kinds[0] ?? "");
  return kinds.every((kind) => kind === "object") ? "object" : "";
}

/** The types that a schema names, or that its keywords imply; without `null`. */
function typesOf({ type, properties, items }: JsonObject): readonly string[] {
  if (isObject(properties)) return ["object"];
  const named = [type ?? []].flat().map(String);
  return named.length > 0 ? named.filter((one) => one !== "null") : items === undefined ? [] : ["array"];
}

/** The parts of a composed schema, without `null`. */
const partsOf = ({ allOf, anyOf, oneOf }: JsonObject, pointers: Pointers): readonly unknown[] =>
  [allOf, anyOf, oneOf]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .filter((part) => pointers.object(part).type !== "null");

const inHeader = ({ own, schema, text }: Parameter, pointers: Pointers): Written => ({
  text: !text && kindOf(schema, pointers) === "object" && own.explode === true ? "{*}" : "{}",
});

/** A pattern that matches anything is how frameworks mark a parameter of several segments. */
const ANYTHING = /^\^?\(?\.[+*]\)?\$?$/;

function inPath({ wireName, own, schema, text }: Parameter, pointers: Pointers): Written | string {
  const { style = "simple", explode = false } = own;
  const kind = text ? "" : kindOf(schema, pointers);
  const isMany = kind === "object" || kind === "array";
  if (isMany && explode === true && style !== "simple") return `a list or an object of the style "${String(style)}"`;
  const { pattern } = toBare(schema, pointers);
  const isOpen = kind === "string" && typeof pattern === "string" && ANYTHING.test(pattern);
  const value = isOpen ? "{+}" : kind === "object" && explode === true ? "{*}" : "{}";
  if (style === "label") return { text: `.${value}` };
  return { text: style === "matrix" ? `;${encodeURIComponent(wireName)}=${value}` : value };
}

/** Whether a mapping is written as `name[field]`. Documents say so of lists, too, and of what may be either. */
export const isDeepObject = (own: unknown): boolean => isObject(own) && own.style === "deepObject";

function inQuery({ wireName, own, schema }: Parameter, pointers: Pointers): Written | string {
  const seen = toBare(schema, pointers);
  const { style = "form", explode = style === "form" } = own;
  const kind = kindOf(seen, pointers);
  const isDeep = isDeepObject(own);
  if (isDeep && (kind === "array" || kind === "")) return { query: { [`${wireName}[*]`]: "{}" } };
  if (kind === "array") {
    const isPlain = !/^(?:object|array)$/.test(kindOf(seen.items, pointers));
    return isPlain ? { query: { [wireName]: explode === false ? "{}" : "{*}" } } : "a list of objects in the query";
  }
  if (kind !== "object") return { query: { [wireName]: "{}" } };
  if (explode === false && !isDeep) return { query: { [wireName]: "{}" } };
  const fields = Object.entries(isObject(seen.properties) ? seen.properties : {});
  const isSingle = (part: unknown): boolean =>
    kindOf(part, pointers) === "" // Also of a choice between a mapping and something else.
      ? partsOf(toBare(part, pointers), pointers).length === 0
      : !/^(?:object|array)$/.test(kindOf(part, pointers));
  const isNamed = fields.every(([name, part]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && isSingle(part));
  const { additionalProperties = false, allOf, anyOf, oneOf } = seen;
  const hasMore = additionalProperties !== false || [allOf, anyOf, oneOf].some((parts) => parts !== undefined);
  if (fields.length === 0 || !isNamed || hasMore) return { query: { [isDeep ? `${wireName}[*]` : "*"]: "{}" } };
  return { query: Object.fromEntries(fields.map(([name]) => [isDeep ? `${wireName}[${name}]` : name, `{.${name}}`])) };
}

/** Whether a schema is that of a list alone, and no choice between one and something else. */
export const isListAlone = ({ type, items }: JsonObject): boolean => items !== undefined || type === "array";

/** A list of which something must be sent: in a path or a header its only item must not be empty, either. @param place also `form` */
export function toNeededList(list: JsonObject, place: string, pointers: Pointers): JsonObject {
  const minItems = Math.max(1, Number(list.minItems ?? 1));
  if (place === "form") return { ...list, minItems };
  const { items: said = { type: ["string", "number", "boolean"] } } = list; // What can be written as text.
  if (place === "query") return { ...list, items: said, minItems };
  const items = pointers.object(said);
  const { type, format, minLength = 0, enum: listed } = items;
  const isText = type === "string" && format === undefined && listed === undefined && minLength === 0;
  return { ...list, items: isText ? { ...items, minLength: 1 } : said, minItems };
}
