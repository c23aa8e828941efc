import { isObject, type JsonObject } from "../../../core/json.ts";
import { toFieldName } from "../names.ts";
import type { Pointers } from "./pointers.ts";
import { isListAlone, toBare, toNeededList } from "./styles.ts";

export interface FormFields {
  readonly properties: JsonObject;
  readonly required: readonly unknown[];
}

const DEEPEST = 8;

/** The fields of a form, and of what its `allOf` names. */
export function toFlat(schema: unknown, pointers: Pointers, depth = 0): FormFields {
  const { properties, required, allOf } = pointers.tryObject(schema);
  const parts = Array.isArray(allOf) && depth < DEEPEST ? allOf.map((part) => toFlat(part, pointers, depth + 1)) : [];
  return {
    properties: Object.assign({}, ...parts.map((part) => part.properties), isObject(properties) ? properties : {}),
    required: [...parts.flatMap((part) => part.required), ...(Array.isArray(required) ? required : [])],
  };
}

/** A required field of a form: of an empty list nothing would be sent. */
export function toNeeded(part: unknown, pointers: Pointers): unknown {
  const bare = toBare(part, pointers);
  return isListAlone(bare) ? toNeededList(bare, "form", pointers) : part;
}

/** The lists that a form needs, which must have an item; undefined when it needs none. */
export function neededLists(schema: JsonObject, pointers: Pointers): JsonObject | undefined {
  const { properties, required } = toFlat(schema, pointers);
  const lists = Object.entries(properties).flatMap(([name, part]) => {
    const needed = required.includes(name) ? toNeeded(part, pointers) : part;
    return needed === part ? [] : [[name, needed] as const];
  });
  return lists.length > 0 ? Object.fromEntries(lists) : undefined;
}

/** A schema with these fields in place of its own. */
export const withFields = (schema: JsonObject, fields: JsonObject): JsonObject => ({
  ...schema,
  properties: { ...(isObject(schema.properties) ? schema.properties : {}), ...fields },
});

const PLAIN = new Set(["type", "title", "description", "properties", "required", "example", "examples"]);

/** Whether a form is nothing but its fields, and an input can have fields of these names. */
export const isPlainForm = (schema: JsonObject): boolean =>
  Object.keys(schema).every((keyword) => PLAIN.has(keyword)) &&
  isObject(schema.properties) &&
  Object.keys(schema.properties).every((name) => toFieldName(name) === name);
