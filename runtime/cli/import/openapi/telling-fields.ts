import { isObject, type JsonObject } from "../../../core/json.ts";
import type { OperationAnswer } from "./answers.ts";
import type { Operation } from "./operations.ts";
import { isOfProvider } from "./parameters.ts";
import type { Pointers } from "./pointers.ts";
import type { RequestBody } from "./request-body.ts";

/** Fields by which APIs report a failure although the status is good. */
const FAILURE = /^(?:ok|success|errors?|error_?(?:code|message|text))$/i;
const DEEPEST = 4;

/** The fields by which an answer may report a failure: those of its outermost mapping, in any of its forms. */
export function failureFields({ body }: OperationAnswer, pointers: Pointers): readonly string[] {
  const fields = body.kind === "json" ? fieldsOf(body.schema, pointers, 0) : [];
  const telling = fields.filter(([name, schema]) => FAILURE.test(name) && !isFixed(pointers.tryObject(schema)));
  return [...new Set(telling.map(([name]) => name))];
}

/** Whether a document says nothing of an answer that it promises, so that any is sold, also one that reports a failure. */
export function isUntold({ body }: OperationAnswer, pointers: Pointers): boolean {
  if (body.kind !== "json") return body.kind === "unsaid" && body.isNeeded;
  const { type = "object", additionalProperties, ...rest } = pointers.tryObject(body.schema);
  return type === "object" && !isObject(additionalProperties) && !TELLING.some((keyword) => keyword in rest);
}

/** The keywords that tell something of a mapping. */
const TELLING = ["properties", "patternProperties", "required", "allOf", "anyOf", "oneOf", "enum", "const"];

/** Whether bytes are said to be base64, by which some documents mean it and others the bytes: Spotify's, and Xero's. */
export function mayBeBase64({ requestBody }: Operation, body: RequestBody | undefined, pointers: Pointers): boolean {
  const content = pointers.tryObject(pointers.tryObject(requestBody).content);
  const schemas = Object.values(content).map((media) => pointers.tryObject(pointers.tryObject(media).schema));
  const isSaid = schemas.some(({ format, contentEncoding }) => format === "byte" || contentEncoding === "base64");
  return body?.encoding === "bytes" && isSaid;
}

/** The fields of a body, in any of its forms, that look like the provider's credentials. */
export function credentialFields(body: RequestBody | undefined, pointers: Pointers): readonly string[] {
  const fields = body?.form
    ? body.form.fields.map(({ name, schema }) => [name, schema] as const)
    : fieldsOf(body?.schema, pointers, 0);
  const own = fields.filter(([name, schema]) =>
    isOfProvider({ place: "body", wireName: name, own: pointers.tryObject(schema) }),
  );
  return [...new Set(own.map(([name]) => name))];
}

/** Whether it has one value only: any other is refused, and not charged. */
const isFixed = (schema: JsonObject): boolean =>
  "const" in schema || (Array.isArray(schema.enum) && schema.enum.length === 1);

function fieldsOf(schema: unknown, pointers: Pointers, depth: number): readonly (readonly [string, unknown])[] {
  if (depth > DEEPEST) return [];
  const { properties, allOf, anyOf, oneOf } = pointers.tryObject(schema);
  const parts = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [
    ...Object.entries(isObject(properties) ? properties : {}),
    ...parts.flatMap((part) => fieldsOf(part, pointers, depth + 1)),
  ];
}
