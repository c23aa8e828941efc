import { isObject, type JsonObject } from "../../../core/json.ts";
import { Refused } from "../imported.ts";
import type { Operation } from "./operations.ts";
import { examplesOf } from "./parameters.ts";
import type { Pointers } from "./pointers.ts";

/** The body of a request. */
export interface RequestBody {
  readonly schema: unknown;
  readonly isRequired: boolean;
  readonly encoding: "json" | "form";
  /** The media type, where it is not the usual one of the encoding. */
  readonly mediaType?: string;
  readonly description?: string;
  readonly examples: readonly unknown[];
}

const JSON_TYPE = /^(?:application|text)\/(?:json|[\w.-]+\+json|\*)\s*(?:;|$)|^\*\/\*$/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;

/** Whether a media type is JSON, or any. */
export const isJsonType = (type: string): boolean => JSON_TYPE.test(type);

/** The body of an operation; undefined when it has none. @throws Refused where it is neither JSON nor a form. */
export function readRequestBody({ requestBody, method }: Operation, pointers: Pointers): RequestBody | undefined {
  const body = pointers.object(requestBody);
  const content = isObject(body.content) ? body.content : {};
  const types = Object.keys(content);
  if (types.length === 0 || method === "GET") return undefined;
  const type =
    types.find((one) => /^application\/json\b/i.test(one)) ??
    types.find(isJsonType) ??
    types.find((one) => FORM_TYPE.test(one));
  if (type === undefined)
    throw new Refused(`its body is ${types.join(" or ")}, and only JSON and plain forms are sent`);
  const media = pointers.object(content[type]);
  const isForm = FORM_TYPE.test(type);
  const isPlain = isForm || /^(?:application\/json|\*\/\*|application\/\*)/i.test(type);
  return {
    schema: media.schema ?? {},
    isRequired: body.required === true || hasNeededFields(trySchema(media.schema, pointers)),
    encoding: isForm ? "form" : "json",
    ...(!isPlain && { mediaType: type }),
    ...(typeof body.description === "string" && { description: body.description }),
    examples: examplesOf(media, trySchema(media.schema, pointers), pointers),
  };
}

/** Documents forget to say that a body is required; one whose fields are is meant to be sent. */
const hasNeededFields = ({ required }: JsonObject): boolean => Array.isArray(required) && required.length > 0;

/** What a successful call gets. */
export type ResponseBody =
  | { readonly kind: "json"; readonly schema: unknown; readonly examples: readonly unknown[] }
  | { readonly kind: "file"; readonly media: string }
  | { readonly kind: "text" }
  | { readonly kind: "nothing" };

/** The successful answer of an operation, with the media type to ask for. */
export interface OperationAnswer {
  readonly body: ResponseBody;
  readonly description?: string;
  /** The value for `accept`, where the upstream might choose another type. */
  readonly accept?: string;
  /** The statuses to charge, where not every 2xx gives the same. */
  readonly chargeOn?: readonly number[];
}

/** @throws Refused where the answer is a page in HTML, or nothing that is known. */
export function readResponse({ responses }: Operation, pointers: Pointers): OperationAnswer {
  const good = Object.keys(responses)
    .filter((status) => /^2(?:\d\d|XX)$/i.test(status))
    .sort();
  const [status = "default"] = good;
  const all = good.map((key) => [key, pointers.object(responses[key])] as const);
  const [, response = pointers.object(responses.default)] = all.find(([, one]) => hasContent(one)) ?? all[0] ?? [];
  const described = typeof response.description === "string" ? { description: response.description } : {};
  const found = readContent(response, pointers);
  const others = all.filter(([, one]) => contentOf(one) !== contentOf(response));
  const taken = all.filter(([key, one]) => contentOf(one) === contentOf(response) && /^\d+$/.test(key));
  const isMixed = status !== "default" && others.length > 0 && taken.length > 0;
  return { ...found, ...described, ...(isMixed && { chargeOn: taken.map(([key]) => Number(key)) }) };
}

const hasContent = ({ content }: JsonObject): boolean => isObject(content) && Object.keys(content).length > 0;

const contentOf = ({ content }: JsonObject): string => JSON.stringify(isObject(content) ? content : {});

function readContent({ content }: JsonObject, pointers: Pointers): Pick<OperationAnswer, "body" | "accept"> {
  const types = isObject(content) ? Object.keys(content) : [];
  if (!isObject(content) || types.length === 0) return { body: { kind: "nothing" } };
  const type = types.find((one) => /^application\/json\b/i.test(one)) ?? types.find(isJsonType) ?? types[0] ?? "";
  const media = pointers.object(content[type]);
  const schema = trySchema(media.schema, pointers);
  const isPlain = /^(?:application\/json\b|\*\/\*|application\/\*)/i.test(type);
  const accept = isPlain && types.length === 1 ? {} : { accept: type };
  if (isBinary(type, schema)) {
    const usual = /^\*|json|\*$/.test(type) ? "application/octet-stream" : (type.split(";")[0] ?? "").trim();
    return { body: { kind: "file", media: usual.toLowerCase() }, ...accept };
  }
  if (isJsonType(type))
    return { body: { kind: "json", schema: media.schema, examples: examplesOf(media, schema, pointers) }, ...accept };
  if (/html/i.test(type)) throw new Refused("it answers with a page in HTML, which is not passed on");
  if (/^text\/|xml|csv|yaml/i.test(type)) return { body: { kind: "text" }, accept: type };
  return { body: { kind: "file", media: (type.split(";")[0] ?? type).trim().toLowerCase() }, accept: type };
}

function isBinary(type: string, schema: JsonObject): boolean {
  if (/^(?:image|audio|video|font)\/|^application\/(?:pdf|zip|octet-stream|gzip)/i.test(type)) return true;
  return schema.type === "string" && schema.format === "binary" && !/^text\//i.test(type);
}

function trySchema(schema: unknown, pointers: Pointers): JsonObject {
  try {
    return pointers.object(schema);
  } catch {
    return {};
  }
}
