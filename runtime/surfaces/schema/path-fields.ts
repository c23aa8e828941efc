import { isObject, type JsonObject } from "../../core/json.ts";

/** The fields of a value or a schema, split by where they are sent: in the path of the route, or elsewhere. */
export interface SplitFields {
  readonly inPath: JsonObject;
  readonly rest: JsonObject;
}

/** Splits an input by the names of the path's parameters. */
export function splitInput(input: JsonObject, names: readonly string[]): SplitFields {
  const pick = (wanted: boolean): JsonObject =>
    Object.fromEntries(Object.entries(input).filter(([name]) => names.includes(name) === wanted));
  return { inPath: pick(true), rest: pick(false) };
}

/**
 * The fields of an input as the query of a GET has them: a list repeats its name, and null is left out. A list of lists is
 * one text of JSON, as the description says: `grid=[1,2]` would be a list of numbers.
 */
export const toQueryPairs = (fields: JsonObject): [name: string, text: string][] =>
  Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) && !value.some(Array.isArray) ? value : [value]).flatMap((one): [string, string][] =>
      one === null ? [] : [[name, toText(one)]],
    ),
  );

const toText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Splits the schema of an input by the names of the path's parameters; without any, the rest is the schema itself. */
export function splitSchema(schema: JsonObject, names: readonly string[]): SplitFields {
  const { inPath, rest } = splitInput(isObject(schema.properties) ? schema.properties : {}, names);
  if (names.length === 0) return { inPath: {}, rest: schema };
  const required = (Array.isArray(schema.required) ? schema.required : []).filter((name) => !names.includes(name));
  return {
    inPath: { type: "object", properties: inPath, required: names },
    rest: { ...schema, properties: rest, required },
  };
}
