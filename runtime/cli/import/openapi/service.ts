import { isObject, type JsonObject } from "../../../core/json.ts";
import { longestTexts } from "../../../core/set/body-checks.ts";
import type { ImportedManifest } from "../imported.ts";
import { toDescription, toServicePath, toTitle, toWord } from "../names.ts";
import type { OperationAnswer } from "./answers.ts";
import type { Operation } from "./operations.ts";
import type { Field, RequestParts } from "./parameters.ts";
import type { RequestBody } from "./request-body.ts";
import type { SchemaBook } from "./schema/book.ts";

export interface OperationParts {
  readonly operation: Operation;
  readonly id: string;
  readonly upstream: string;
  readonly request: RequestParts;
  readonly body: RequestBody | undefined;
  readonly answer: OperationAnswer;
  /** US dollars; undefined for a free service. */
  readonly price: string | undefined;
}

/** The largest file that is returned. */
const FILE_BYTES = 1_048_576;
const LARGEST_BODY = 1_048_576;

/** The manifest of an operation, without examples. @throws Refused for a reference that leads nowhere. */
export function toOperationManifest(parts: OperationParts, book: SchemaBook): ImportedManifest {
  const { operation, id, upstream, answer, price } = parts;
  const { method, path, summary, description } = operation;
  const words = { summary: summary || operation.name, fallback: `${method} ${path} of ${upstream}.` };
  const { input, proxy } = toRequestSide(parts, book);
  const { output, wrap } = toAnswerSide(answer, book);
  const isRead = method === "GET";
  const route = toServicePath(upstream, id);
  return {
    id,
    title: toTitle(words.summary, id.slice(0, 32)),
    description: toDescription(description || summary, words.fallback),
    route: `POST ${route}`,
    ...(isRead && isFlat(input) && { aliases: [`GET ${route}`] }),
    ...(price !== undefined && { price, ...(!isRead && { charge: "first" }) }),
    proxy: {
      ...proxy,
      ...(answer.chargeOn && { charge_on: answer.chargeOn }),
      ...(wrap !== undefined && { answer: { wrap } }),
    },
    hints: toHints(method),
    input,
    output,
    tags: [...new Set([upstream, ...operation.tags.map(toWord)])].filter((tag) => tag !== "").slice(0, 5),
    ...toBodyBytes([isObject(input) ? input : {}, book.inputOf(parts.body?.schema) ?? {}], parts.body),
  };
}

/** The hints that a method implies (RFC 9110, section 9.2); for POST, none are certain. */
function toHints(method: string): object {
  if (method === "GET") return { readOnly: true, idempotent: true, destructive: false, openWorld: true };
  if (method === "POST") return { openWorld: true };
  return { readOnly: false, idempotent: method !== "PATCH", destructive: method === "DELETE", openWorld: true };
}

/** Whether the input has only texts, numbers, booleans and lists of them, as the query of a GET requires. */
function isFlat(input: string | JsonObject): boolean {
  const fields = isObject(input) && isObject(input.properties) ? Object.values(input.properties) : [undefined];
  const isPlain = (schema: unknown): boolean =>
    isObject(schema) && [schema.type].flat().every((type) => /^(?:string|number|integer|boolean)$/.test(String(type)));
  return fields.every((field) => isPlain(field) || (isObject(field) && field.type === "array" && isPlain(field.items)));
}

function toRequestSide(
  { operation, upstream, request, body, answer }: OperationParts,
  book: SchemaBook,
): { readonly input: string | JsonObject; readonly proxy: JsonObject } {
  const named = body && request.fields.length === 0 ? book.fileOf(body.schema, "input") : undefined;
  const form = body?.form;
  const fields = [...request.fields, ...(body?.typeField ? [body.typeField] : [])];
  const nested = body && !form && named === undefined ? bodyField(body, fields) : undefined;
  const headers = {
    ...request.headers,
    ...(answer.accept !== undefined && { accept: answer.accept }),
    ...(body?.type !== undefined && { "content-type": body.type }),
  };
  const proxy = {
    upstream,
    request: `${operation.method} ${request.path}`,
    ...(Object.keys(request.query).length > 0 && { query: request.query }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(named !== undefined && { body: "input" }),
    ...(nested && { body: `{${nested.name}}` }),
    ...(form && { body: form.body }),
    ...(body && body.encoding !== "json" && { encoding: body.encoding }),
    ...(form && form.files.length > 0 && { files: form.files }),
  };
  if (named !== undefined) return { input: named, proxy };
  return { input: toInput([...fields, ...(nested ? [nested] : (form?.fields ?? []))], book), proxy };
}

function bodyField({ schema, isRequired, description, examples }: RequestBody, fields: readonly Field[]): Field {
  const isTaken = (name: string): boolean => fields.some((field) => field.name === name);
  const name = ["body", "content", "payload", "request_body"].find((one) => !isTaken(one)) ?? "the_request_body";
  const isPlain = isObject(schema) && schema.$ref === undefined && schema.description === undefined;
  const described = isPlain && description !== undefined ? { ...schema, description } : schema;
  return { name, schema: described, isRequired, examples };
}

function toInput(fields: readonly Field[], book: SchemaBook): JsonObject {
  const needed = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(({ name, schema }) => [name, book.convert(schema, "input")])),
    ...(needed.length > 0 && { required: needed }),
  };
}

/** The output side. Outputs must be objects, so any other value is put into a field. */
function toAnswerSide(
  { body, description }: OperationAnswer,
  book: SchemaBook,
): { readonly output: string | JsonObject; readonly wrap?: string } {
  const described = description === undefined || description.trim() === "" ? {} : { description: description.trim() };
  if (body.kind === "file") return { output: { media: body.media, max_bytes: FILE_BYTES } };
  if (body.kind === "nothing") return inField("answer", { description: "Empty: the API answers without a body." }, []);
  if (body.kind === "unsaid") {
    const said = { description: "What the API answers: its document does not say." };
    return inField("answer", said, body.isNeeded ? ["answer"] : []);
  }
  if (body.kind === "text") return inField("text", { ...(body.isSure && { type: "string" }), ...described });
  const file = book.fileOf(body.schema, "output");
  if (file !== undefined) return { output: file };
  if (body.schema === undefined) return inField("result", described);
  const schema = book.convert(body.schema, "output");
  if (isObject(schema) && schema.type === "object") return { output: schema };
  const isList = isObject(schema) && schema.type === "array";
  return inField(isList ? "items" : "result", schema);
}

const inField = (name: string, schema: JsonObject | boolean, required: readonly string[] = [name]) => ({
  output: {
    type: "object",
    properties: { [name]: schema },
    ...(required.length > 0 && { required }),
  },
  wrap: name,
});

/** The body limit, which must have room for the longest texts of the input and of its fields' fields. */
export function toBodyBytes(schemas: readonly JsonObject[], body?: RequestBody): { readonly body_bytes?: number } {
  if (body?.encoding === "bytes" || (body?.form?.files.length ?? 0) > 0) return { body_bytes: LARGEST_BODY };
  const fields = schemas.flatMap(({ properties }) => (isObject(properties) ? Object.values(properties) : []));
  const all = [...schemas, ...fields.filter(isObject)];
  const longest = all.reduce((sum, schema) => sum + longestTexts(schema), 0);
  return longest > 60_000 ? { body_bytes: Math.min(longest + 4096, LARGEST_BODY) } : {};
}

/**
 * The inputs made from the document's own examples: one with the required fields, one with all fields that have an
 * example.
 */
export function toExampleInputs({ request, body }: OperationParts, input: unknown): readonly unknown[] {
  const bodies = body ? (body.examples.length > 0 ? body.examples : [undefined]) : [undefined];
  if (typeof input === "string") return body?.examples ?? [];
  const properties = isObject(input) && isObject(input.properties) ? Object.keys(input.properties) : [];
  const fields = [...request.fields, ...(body?.typeField ? [body.typeField] : []), ...(body?.form?.fields ?? [])];
  const bodyName = properties.find((name) => !fields.some((field) => field.name === name));
  const of = (some: readonly Field[]): JsonObject =>
    Object.fromEntries(some.flatMap(({ name, examples: [first] }) => (first === undefined ? [] : [[name, first]])));
  return bodies.flatMap((given) => {
    const withBody = bodyName !== undefined && given !== undefined ? { [bodyName]: given } : {};
    const all = { ...of(fields), ...withBody };
    const needed = { ...of(fields.filter(({ isRequired }) => isRequired)), ...withBody };
    return Object.keys(all).length > 0 ? [all, needed] : [];
  });
}
