import { isObject } from "../json.ts";
import { listOf, type Resolve } from "./nodes.ts";

/** The fields of a value that these schemas of it name, each with its schema; those of `$ref`, `allOf` and branches, too. */
export function namedFields(schemas: readonly unknown[], resolve: Resolve): readonly (readonly [string, unknown])[] {
  const applied = new Set<unknown>();
  const add = (schema: unknown): void => {
    if (!isObject(schema) || applied.has(schema)) return;
    applied.add(schema);
    if ("$ref" in schema) add(resolve(schema));
    [schema.allOf, schema.anyOf, schema.oneOf].flatMap(listOf).forEach(add);
  };
  schemas.forEach(add);
  return [...applied].flatMap((schema) =>
    isObject(schema) && isObject(schema.properties) ? Object.entries(schema.properties) : [],
  );
}
