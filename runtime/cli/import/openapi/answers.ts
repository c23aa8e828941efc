import { isObject, type JsonObject } from "../../../core/json.ts";
import { partsField } from "../../../core/proxy/media.ts";
import { Refused } from "../imported.ts";
import { jsonExamplesOf } from "./examples.ts";
import type { Operation } from "./operations.ts";
import type { Pointers } from "./pointers.ts";

/** The body of a successful answer. */
export type ResponseBody =
  | { readonly kind: "json"; readonly schema: unknown; readonly examples: readonly unknown[] }
  | { readonly kind: "file"; readonly media: string }
  /** Where it is sure to be a text, JSON in its place is another answer, such as that of a failure. */
  | { readonly kind: "text"; readonly isSure: boolean }
  | { readonly kind: "nothing" }
  /** The document does not say. A GET without an answer has nothing to sell. */
  | { readonly kind: "unsaid"; readonly isNeeded: boolean };

/** The successful answer of an operation, and the media type to request. */
export interface OperationAnswer {
  readonly body: ResponseBody;
  readonly description?: string;
  /** Whether it may also come as a stream, which does not fit the schema. */
  readonly mayStream?: boolean;
  /** The value for `accept`, when the upstream might choose another type. */
  readonly accept?: string;
  /** The statuses to charge, when the 2xx answers differ. */
  readonly chargeOn?: readonly number[];
  /** The other 2xx statuses then, which are not charged. */
  readonly unsold?: readonly string[];
}

/** @throws Refused when the answer is an HTML page or of an unknown kind. */
export function readResponse({ method, responses }: Operation, pointers: Pointers): OperationAnswer {
  const good = Object.keys(responses)
    .filter((status) => /^2(?:\d\d|XX)$/i.test(status))
    .sort();
  const [status = "default"] = good;
  const read = (key: string): JsonObject => {
    const response = pointers.object(responses[key]);
    return { ...response, content: BODILESS.test(key) ? {} : pointers.object(response.content) };
  };
  const all = good.map((key) => [key, read(key)] as const);
  const [, response = read("default")] = all.find(([, one]) => hasContent(one)) ?? all[0] ?? [];
  const described = typeof response.description === "string" ? { description: response.description } : {};
  const found = readContent(response, pointers);
  const isTaken = ([, one]: readonly [string, JsonObject]): boolean => {
    const other = tryContent(one, pointers);
    return other !== undefined && formOf(other) === formOf(found);
  };
  const others = all.filter((one) => !isTaken(one));
  const taken = all.filter((one) => isTaken(one) && /^\d+$/.test(one[0]));
  const isMixed = status !== "default" && others.length > 0 && taken.length > 0;
  const isUnsaid = found.body.kind === "nothing" && !hasContent(response) && !BODILESS.test(status);
  return {
    ...found,
    ...(isUnsaid && { body: { kind: "unsaid", isNeeded: method === "GET" } }),
    ...described,
    ...(isMixed && { chargeOn: taken.map(([key]) => Number(key)), unsold: others.map(([key]) => key) }),
  };
}

/** Whether the document tells of no other answer than redirects (RFC 9110, section 15.4) and failures. */
export const onlyRedirects = ({ responses }: Operation): boolean =>
  Object.keys(responses).some((status) => /^3(?:0[12378]|XX)$/i.test(status)) &&
  !Object.keys(responses).some((status) => /^(?:2(?:\d\d|XX)|default)$/i.test(status));

/** Statuses whose answers have no body (RFC 9110, section 15.3); some documents describe one all the same. */
const BODILESS = /^20[45]$/;

const hasContent = ({ content }: JsonObject): boolean => isObject(content) && Object.keys(content).length > 0;

/** What is sold of an answer, without its examples. */
const formOf = ({ body }: Content): string => JSON.stringify(body.kind === "json" ? [body.schema] : body);

type Content = Pick<OperationAnswer, "body" | "accept" | "mayStream">;

/** The content of a further status; undefined for one that cannot be sold. */
function tryContent(response: JsonObject, pointers: Pointers): Content | undefined {
  try {
    return readContent(response, pointers);
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

function readContent({ content }: JsonObject, pointers: Pointers): Content {
  const types = isObject(content) ? Object.keys(content) : [];
  if (!isObject(content) || types.length === 0) return { body: { kind: "nothing" } };
  const type = types.find(isPlainJson) ?? types.find(isJsonType) ?? types[0] ?? "";
  const media = pointers.object(content[type]);
  const schema = pointers.tryObject(media.schema);
  if (schema.type === "null") return { body: { kind: "nothing" } }; // SendGrid's word for an answer without a body.
  const isPlain = isPlainJson(type) || /^(?:\*|application)\/\*/i.test(type);
  const accept = isPlain && types.length === 1 ? {} : { accept: type };
  const field = partsField(type);
  if (field !== undefined) return { body: { kind: "json", schema: toPartsSchema(field), examples: [] }, accept: type };
  const mayStream = types.some(partsField) && { mayStream: true };
  if (isBinary(type, schema)) {
    const usual = /^\*|json/i.test(type) ? "application/octet-stream" : (type.split(";")[0] ?? "").trim();
    return { body: { kind: "file", media: usual.toLowerCase() }, ...accept };
  }
  if (isJsonType(type)) {
    const examples = jsonExamplesOf(media, schema, pointers);
    return { body: { kind: "json", schema: media.schema, examples }, ...accept, ...mayStream };
  }
  if (/html/i.test(type)) throw new Refused("it answers with a page in HTML, which is not passed on");
  const isSure = /xml|csv/i.test(type) || [schema.type].flat().includes("string");
  if (/^text\/|xml|csv|yaml/i.test(type)) return { body: { kind: "text", isSure }, accept: type };
  return { body: { kind: "file", media: (type.split(";")[0] ?? type).trim().toLowerCase() }, accept: type };
}

/** Accepts any parts: some documents describe the parts of a stream and others its bytes, so no answer is held to either. */
const toPartsSchema = (field: string): JsonObject => ({
  type: "object",
  properties: { [field]: { type: "array", items: {} } },
  required: [field],
});

function isBinary(type: string, schema: JsonObject): boolean {
  if (/^(?:image|audio|video|font)\/|^application\/(?:pdf|zip|octet-stream|gzip)/i.test(type)) return true;
  return schema.type === "string" && schema.format === "binary" && !/^text\//i.test(type);
}

const JSON_TYPE = /^(?:application|text)\/(?:json|[\w.-]+\+json|\*)\s*(?:;|$)|^\*\/\*$/i;

/** Whether a media type is JSON or a wildcard. */
export const isJsonType = (type: string): boolean => JSON_TYPE.test(type);

/** Whether a media type is `application/json` itself, and no other one that begins alike, such as that of JSON Patch. */
export const isPlainJson = (type: string): boolean => /^application\/json\s*(?:;|$)/i.test(type);
