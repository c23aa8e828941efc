import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import type { Loose } from "./fixture-set.ts";

/** ajv-formats is a CommonJS module whose types say otherwise. */
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default;

/** One operation of a description. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operation: Loose;
}

/** A description as a client of it would use it. */
export interface Described {
  readonly operations: readonly Operation[];
  /** What is behind a `$ref`, or the thing itself. */
  resolve(node: Loose): Loose;
  /** What is wrong with a value, by a schema of the description; empty when nothing is. */
  faultsOf(schema: object, value: unknown): string;
  /** What is wrong with an answer: an undescribed status or type, or a body that its schema does not hold. */
  faultsOfAnswer(operation: Loose, answer: { status: number; type: string; body: unknown }): string;
}

export function describeApi(document: Loose): Described {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  ajv.addSchema(document, "openapi.json");
  const resolve = (node: Loose): Loose =>
    typeof node?.$ref === "string"
      ? resolve(
          node.$ref
            .slice(2)
            .split("/")
            .reduce((at: Loose, key: string) => at?.[key], document),
        )
      : node;
  const compiled = new Map<string, ValidateFunction>();
  const compile = (text: string): ValidateFunction => {
    const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
    compiled.set(text, validate);
    return validate;
  };
  const faultsOf = (schema: object, value: unknown): string => {
    const validate = compile(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"openapi.json#'));
    return validate(value) ? "" : ajv.errorsText(validate.errors);
  };
  return {
    operations: Object.entries<Loose>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Loose>(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    ),
    resolve,
    faultsOf,
    faultsOfAnswer({ responses }, { status, type, body }) {
      const response = resolve(responses[String(status)]);
      if (!response) return `status ${status} is not described`;
      const content = response.content[type.split(";")[0] ?? ""];
      return content ? faultsOf(content.schema, body) : `status ${status} is not described as ${type}`;
    },
  };
}
