import { isCollection, isObject, type JsonObject, tryParseJson } from "../../../core/json.ts";
import type { Pointers } from "./pointers.ts";

/** The examples of a JSON body. Some documents write them as texts of JSON. */
export const jsonExamplesOf = (media: JsonObject, schema: JsonObject, pointers: Pointers): readonly unknown[] =>
  examplesOf(media, schema, pointers).flatMap((one) => {
    const data = typeof one === "string" ? tryParseJson(one) : undefined;
    return isCollection(data) ? [data, one] : [one];
  });

/** The examples of a parameter or a media type, followed by those of its schema (OpenAPI 3.1, section 4.8.19). */
export function examplesOf(
  { example, examples }: JsonObject,
  schema: JsonObject,
  pointers: Pointers,
): readonly unknown[] {
  const listed = isObject(examples) ? Object.values(examples) : [];
  const named = listed.flatMap((one) => {
    const { $ref } = isObject(one) ? one : {};
    const found = typeof $ref === "string" ? pointers.at($ref) : one;
    return isObject(found) && "value" in found ? [found.value] : [];
  });
  const inSchema = [
    ...(schema.example === undefined ? [] : [schema.example]),
    ...(Array.isArray(schema.examples) ? schema.examples : []),
  ];
  return [...(example === undefined ? [] : [example]), ...named, ...inSchema];
}
