import { isObject } from "../core/json.ts";

type Json = Readonly<Record<string, unknown>>;

/** A value, or a schema, in two: what stands in the path of a route, and everything else. */
export interface Parts {
  readonly inPath: Json;
  readonly rest: Json;
}

/** Splits an input by the names of the path's parameters. */
export function splitInput(input: Json, names: readonly string[]): Parts {
  const pick = (wanted: boolean): Json =>
    Object.fromEntries(Object.entries(input).filter(([name]) => names.includes(name) === wanted));
  return { inPath: pick(true), rest: pick(false) };
}

/** Splits the schema of an input by the names of the path's parameters; without any, the rest is the schema itself. */
export function splitSchema(schema: Json, names: readonly string[]): Parts {
  const { inPath, rest } = splitInput(isObject(schema.properties) ? schema.properties : {}, names);
  if (names.length === 0) return { inPath: {}, rest: schema };
  const required = (Array.isArray(schema.required) ? schema.required : []).filter((name) => !names.includes(name));
  return {
    inPath: { type: "object", properties: inPath, required: names },
    rest: { ...schema, properties: rest, required },
  };
}
