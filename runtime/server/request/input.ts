import { isUtf8 } from "node:buffer";
import type { Request } from "express";
import { Problem } from "../../api/problem.ts";
import type { Invocation } from "../../core/call.ts";
import { isObject } from "../../core/json.ts";
import { missingValue } from "../../core/schema/issues.ts";
import { isJsonBody } from "../../surfaces/http/headers.ts";
import type { DoorBody } from "../../surfaces/rpc/door.ts";
import { type BodyTerms, countFields, hasBody, receiveBody } from "./body.ts";
import { isSafeToParse, jsonShapeOf, parseJson } from "./json.ts";

/** What a content type says of the charset. Other parameters, such as JSON-LD's `profile`, change nothing. */
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/gi;

/** The bounds of a body: see `BodyTerms`, and how deeply its JSON may be nested. */
export interface InputTerms extends BodyTerms {
  readonly maxDepth: number;
}

/** How many fields a body may have, for a service that knows its input. */
interface RestTerms extends InputTerms {
  readonly maxFields: number;
}

/**
 * The unchecked input of a call: the JSON body of a POST, otherwise the query's strings (a list where a name is repeated);
 * the path's parameters are added.
 * @throws Problem `invalid-input`, `unsupported-media-type`, `bad-request` for a query that is not UTF-8,
 * `payload-too-large` for too many fields, and what `receiveBody` throws.
 */
export async function readRequestInput(request: Request, terms: RestTerms): ReturnType<Invocation["input"]> {
  const { params } = request;
  const inPath = Object.keys(params);
  if (request.method !== "POST") {
    checkQuery(request);
    const { x402Version: _, ...texts } = request.query;
    const value = { ...without(inPath, texts), ...params };
    return { value, from: "query", inPath, json: () => JSON.stringify(value) };
  }
  checkMediaType(request);
  const bytes = await receiveBody(request, terms);
  if (bytes.length === 0) throw missingBody();
  const shape = jsonShapeOf(bytes, terms.maxDepth);
  if (shape.fields > terms.maxFields) throw tooManyFields(shape.fields, terms.maxFields);
  await countFields(shape.fields, terms);
  const value = parseJson(bytes, terms.maxDepth, shape);
  const json = (): string => bytes.toString();
  return { value: isObject(value) ? Object.assign(value, params) : value, from: "body", inPath, json };
}

/**
 * The text of a JSON-RPC body, with or without a byte order mark. A body that is not UTF-8 or is nested too deep becomes
 * an empty text, so that the door answers its own parse error.
 * @throws Problem `unsupported-media-type` when it is compressed, and as `receiveBody` does.
 */
export async function readRequestText(request: Request, terms: InputTerms): Promise<DoorBody> {
  checkEncoding(request);
  const bytes = await receiveBody(request, terms);
  const shape = jsonShapeOf(bytes, terms.maxDepth);
  await countFields(shape.fields, terms);
  const text = isSafeToParse(bytes, shape) ? bytes.toString().replace(/^\ufeff/, "") : "";
  return { text, bytes: bytes.length };
}

/** Texts without those that would be put into these fields, such as `days[]`: the path alone says what stands in it. */
const without = (fields: readonly string[], texts: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(texts).filter(([name]) => !fields.includes(name.split("[", 1)[0] ?? "")));

/** Where bytes are encoded that are not UTF-8, the parser of queries puts U+FFFD. A stray `%` stands for itself. */
function checkQuery({ url }: Request): void {
  const encoded = url.slice(url.indexOf("?") + 1).match(/(?:%[0-9a-f]{2})+/gi) ?? [];
  if (encoded.every((bytes) => isUtf8(Buffer.from(bytes.replaceAll("%", ""), "hex")))) return;
  throw new Problem("bad-request", "The query is not valid percent-encoded UTF-8");
}

/** An absent body is reported as missing, whatever its headers say. */
function checkMediaType(request: Request): void {
  if (!hasBody(request)) throw missingBody();
  checkEncoding(request);
  const type = request.headers["content-type"];
  const charsets = [...(type ?? "").matchAll(CHARSET)];
  if (!isJsonBody(request.headers) || !charsets.every(([, charset = ""]) => /^utf-?8$/i.test(charset))) {
    const found = type === undefined ? "has no content-type" : `is ${JSON.stringify(type.slice(0, 100))}`;
    throw new Problem("unsupported-media-type", `The body ${found}; it must be application/json in UTF-8`);
  }
}

function checkEncoding({ headers }: Pick<Request, "headers">): void {
  const { "content-encoding": encoding = "identity" } = headers;
  if (encoding.toLowerCase() === "identity") return;
  throw new Problem("unsupported-media-type", "The body is compressed; send it without a content-encoding");
}

const tooManyFields = (fields: number, most: number): Problem =>
  new Problem(
    "payload-too-large",
    `The body has ${fields} fields; this service takes ${most} at most, unknown ones included`,
  );

const missingBody = (): Problem => new Problem("invalid-input", undefined, { issues: [missingValue("body")] });
