import { isObject, type JsonObject } from "../../core/json.ts";
import { listOf } from "../../core/schema/nodes.ts";

/**
 * How a query sends a field (OpenAPI 3.1, "Parameter Object"). A mapping of simple values is a `deepObject`; any other
 * mapping, and a list of mappings or lists, is a text of JSON: generators make clients for both, and not for `content`.
 */
export function toQueryStyle(field: JsonObject): JsonObject {
  if (!isNested(field)) return { schema: field };
  if (isSimpleMapping(field)) return { style: "deepObject", explode: true, schema: field };
  return { schema: { type: "string", contentMediaType: "application/json", contentSchema: field } };
}

/** Whether a field takes a mapping, or mappings or lists in a list. Where it takes a text as well, JSON is that text. */
function isNested(field: JsonObject): boolean {
  const [own, items] = [kindsOf(field), itemsOf(field).flatMap(kindsOf)];
  if ([...own, ...items].includes("string")) return false;
  return own.includes("object") || items.some((kind) => kind === "object" || kind === "array");
}

function isSimpleMapping({ type, properties = {}, additionalProperties = false, ...rest }: JsonObject): boolean {
  const parts = [
    ...Object.values(properties as JsonObject),
    ...(isObject(additionalProperties) ? [additionalProperties] : []),
  ];
  const isSimple = (part: unknown): boolean =>
    kindsOf(part).every((kind) => kind !== "object" && kind !== "array") && itemsOf(part).length === 0;
  // A mapping that names no parts takes any: only JSON tells a number in it from a text.
  return type === "object" && branchesOf(rest).length === 0 && parts.length > 0 && parts.every(isSimple);
}

/** The types that a schema takes; `string` where it names none. What refers to itself is an object. */
function kindsOf(schema: unknown): readonly unknown[] {
  if (!isObject(schema)) return ["string"];
  const branches = branchesOf(schema);
  if ("$ref" in schema) return ["object"];
  if (schema.type !== undefined || branches.length === 0) return [schema.type ?? "string"].flat();
  return branches.flatMap(kindsOf);
}

const itemsOf = (schema: unknown): readonly unknown[] =>
  isObject(schema)
    ? [...(schema.items === undefined ? [] : [schema.items]), ...branchesOf(schema).flatMap(itemsOf)]
    : [];

const branchesOf = ({ allOf, anyOf, oneOf }: JsonObject): readonly unknown[] => [allOf, anyOf, oneOf].flatMap(listOf);
