import type { Ajv2020 } from "ajv/dist/2020.js";
import { SchemaEnv } from "ajv/dist/compile/index.js";
import type { AnyValidateFunction } from "ajv/dist/core.js";

/** The schemas that are compiled together with everything that they refer to. */
const whole = new WeakSet<SchemaEnv>();

/**
 * Compiles a schema, given by its key or inline, and then each one that it refers to. Ajv itself compiles
 * a referenced schema in the middle of the one that refers to it, so that a chain of some hundred schemas, as large APIs
 * have, would exhaust the stack. Here the waiting schemas are marked as being compiled: Ajv leaves references to those
 * open. @throws Ajv's errors
 */
export function compileApart(ajv: Ajv2020, schema: string | object): AnyValidateFunction | undefined {
  const waiting = Object.values(ajv.schemas).filter((one) => one !== undefined && !one.validate) as SchemaEnv[];
  for (const one of waiting) ajv._compilations.add(one);
  const compileNamed = (key: string): AnyValidateFunction | undefined => {
    const named = ajv.schemas[key];
    if (named) ajv._compilations.delete(named);
    return ajv.getSchema(key);
  };
  try {
    const compiled = typeof schema === "string" ? compileNamed(schema) : ajv.compile(schema);
    const found = new Set(compiled?.schemaEnv ? [compiled.schemaEnv] : []);
    for (const one of found)
      for (const [key, part] of Object.entries(whole.has(one) ? {} : one.root.refs))
        if (part instanceof SchemaEnv && !found.has(part)) {
          if (!part.validate) compileNamed(key);
          found.add(part);
        }
    for (const one of found) whole.add(one);
    return compiled;
  } finally {
    for (const one of waiting) ajv._compilations.delete(one);
  }
}
