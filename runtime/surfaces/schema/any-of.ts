import { mapSubschemas, type SchemaObject } from "../../core/schema/subschemas.ts";

/** Keywords that apply to all the types together. */
const COMMON = ["title", "description", "default", "examples", "deprecated", "$schema", "$defs", "$comment"];

/** The schema with `type: [a, b]` as `anyOf` of one type each: model providers do not accept lists of types. */
export function withSingleTypes(schema: SchemaObject): SchemaObject {
  const { type, ...rest } = mapSubschemas(schema, withSingleTypes);
  if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest };
  const entries = Object.entries(rest);
  const common = Object.fromEntries(entries.filter(([keyword]) => COMMON.includes(keyword)));
  const bounds = Object.fromEntries(entries.filter(([keyword]) => !COMMON.includes(keyword)));
  return { ...common, anyOf: type.map((one) => toBranch(one, bounds)) };
}

function toBranch(type: unknown, bounds: SchemaObject): SchemaObject {
  if (type === "null") return { type };
  const values = Array.isArray(bounds.enum) ? bounds.enum.filter((value) => value !== null) : undefined;
  return { type, ...bounds, ...(values && { enum: values }) };
}
