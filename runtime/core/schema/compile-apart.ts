import type { Ajv2020 } from "ajv/dist/2020.js";
import { SchemaEnv } from "ajv/dist/compile/index.js";
import type { AnyValidateFunction } from "ajv/dist/core.js";

/** Schemas that are compiled with all that they refer to. */
const whole = new WeakSet<SchemaEnv>();

/**
 * Compiles a schema, given by its key or inline, and then each one that it refers to. Ajv compiles a reference amid the
 * schema that has it, so that some hundred schemas which refer to each other, as large APIs have, would exhaust the
 * stack. To Ajv, those whose turn has not come are being compiled: it leaves such references open. @throws Ajv's errors
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
