import { isObject, type JsonObject } from "../../../../core/json.ts";

/** A schema as its document means it, where nothing, or no null, fits it by the letter. */
export const asMeant = (schema: JsonObject): JsonObject =>
  withItemsEnum(withItemsAsChoice(withNullAsChoice(withNullOfPart(schema))));

/** Some documents write the allowed values of a list's items beside the items: no list is one of them. */
function withItemsEnum(schema: JsonObject): JsonObject {
  const { enum: listed, items, ...rest } = schema;
  const isMisplaced =
    schema.type === "array" && Array.isArray(listed) && listed.every((one) => typeof one !== "object");
  return isMisplaced && isObject(items) && items.$ref === undefined
    ? { ...rest, items: { enum: listed, ...items } }
    : schema;
}

/** Some documents write a choice as the `items` of what need be no list, such as Slack's `bot_id`. */
function withItemsAsChoice(schema: JsonObject): JsonObject {
  const { items, ...rest } = schema;
  const choice = isObject(items) ? items.anyOf : items;
  const isChoice = Array.isArray(choice) && ["type", "anyOf", "properties"].every((key) => rest[key] === undefined);
  return isChoice ? { ...rest, anyOf: [{ type: "array", items }, ...choice] } : schema;
}

/** Some documents join a schema and `null` by `allOf`: no value is both. */
function withNullAsChoice(schema: JsonObject): JsonObject {
  const { allOf, ...rest } = schema;
  const all: readonly unknown[] = Array.isArray(allOf) && rest.anyOf === undefined ? allOf : [];
  const parts = all.filter((part) => !isObject(part) || part.type !== "null");
  return parts.length > 0 && parts.length < all.length
    ? { ...rest, anyOf: [{ allOf: parts }, { type: "null" }] }
    : schema;
}

/** Some documents, such as OpenAI's, say in one part of an `allOf`, beside a reference, that the whole may be null. */
function withNullOfPart(schema: JsonObject): JsonObject {
  const parts: readonly unknown[] = Array.isArray(schema.allOf) ? schema.allOf : [];
  const isSaid = parts.length > 1 && parts.some((part) => isObject(part) && part.nullable === true);
  return isSaid ? { ...schema, nullable: true } : schema;
}
