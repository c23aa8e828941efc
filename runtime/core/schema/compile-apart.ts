import type { Ajv2020 } from "ajv/dist/2020.js";
import type { SchemaEnv } from "ajv/dist/compile/index.js";
import type { AnyValidateFunction } from "ajv/dist/core.js";
import { subschemas } from "./subschemas.ts";

/** The schemas that are compiled together with everything that they refer to. */
const whole = new WeakSet<SchemaEnv>();

/**
 * Compiles a schema, given by its key or inline, and then each one that it refers to. Ajv itself compiles
 * a referenced schema in the middle of the one that refers to it, so that a chain of some hundred schemas, as large APIs
 * have, would exhaust the stack. Here the waiting schemas are marked as being compiled: Ajv leaves references to those
 * open. @throws Ajv's errors
 */
export function compileApart(ajv: Ajv2020, schema: string | object): AnyValidateFunction | undefined {
  const found = partsOf(ajv, schema);
  const waiting = [...found].filter(([, part]) => !part.validate);
  for (const [, part] of waiting) ajv._compilations.add(part);
  const compileNamed = (key: string): AnyValidateFunction | undefined => {
    const named = found.get(key);
    if (named) ajv._compilations.delete(named);
    return ajv.getSchema(key);
  };
  try {
    const compiled = typeof schema === "string" ? compileNamed(schema) : ajv.compile(schema);
    for (const [key, part] of waiting) if (!part.validate) compileNamed(key);
    for (const part of found.values()) whole.add(part);
    return compiled;
  } finally {
    for (const [, part] of waiting) ajv._compilations.delete(part);
  }
}

/** The schemas by key that are not `whole`: the one of a key, and those to which it, or an inline one, leads. */
function partsOf(ajv: Ajv2020, schema: string | object): ReadonlyMap<string, SchemaEnv> {
  const found = new Map<string, SchemaEnv>();
  const add = (reference: string): void => {
    const key = reference.replace(/#.*$/, "");
    const named = ajv.schemas[key];
    if (named && !whole.has(named)) found.set(key, named);
  };
  const look = (inside: unknown): void => {
    for (const { schema: part } of subschemas(inside)) if (typeof part.$ref === "string") add(part.$ref);
  };
  if (typeof schema === "string") add(schema);
  else look(schema);
  for (const named of found.values()) look(named.schema);
  return found;
}
