import type { Request } from "express";
import { Problem } from "../../api/problem.ts";
import type { Invocation } from "../../core/call.ts";
import { isObject } from "../../core/json.ts";
import { missingValue } from "../../core/schema/issues.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { isSafeToParse, parseJson } from "./json.ts";

const JSON_TYPE = /^application\/(?:json|[\w.-]+\+json)\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?\s*$/i;

type Bounds = Pick<SiteManifest["limits"], "body_bytes" | "body_depth">;

/**
 * The unchecked input of a call: the JSON body of a POST, otherwise the query's strings (a list where a name is repeated);
 * the path's parameters are added.
 * @throws Problem `invalid-input`, `payload-too-large`, `unsupported-media-type`, `bad-request` (the body was cut off).
 */
export async function readRequestInput(
  request: Request,
  { body_bytes, body_depth }: Bounds,
): ReturnType<Invocation["input"]> {
  if (request.method !== "POST") {
    const { x402Version: _, ...texts } = request.query;
    return { value: { ...texts, ...request.params }, from: "query" };
  }
  checkMediaType(request);
  const bytes = await readBody(request, body_bytes);
  if (bytes.length === 0) throw missingBody();
  const value = parseJson(bytes, body_depth);
  return { value: isObject(value) ? { ...value, ...request.params } : value, from: "body" };
}

/**
 * The text of a JSON-RPC body. A body that is not UTF-8, is nested too deep or is compressed becomes an empty text, so
 * that the door answers its own parse error.
 * @throws Problem `payload-too-large`, `bad-request`.
 */
export async function readRequestText(request: Request, { body_bytes, body_depth }: Bounds): Promise<string> {
  const bytes = await readBody(request, body_bytes);
  const isPlain = (request.headers["content-encoding"] ?? "identity").toLowerCase() === "identity";
  return isPlain && isSafeToParse(bytes, body_depth) ? bytes.toString() : "";
}

/** An absent body is reported as missing, whatever its headers say. */
function checkMediaType({ headers }: Request): void {
  if (headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0) throw missingBody();
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    throw new Problem("unsupported-media-type", "The body is compressed; send it without a content-encoding");
  }
  const type = headers["content-type"];
  if (type === undefined || !JSON_TYPE.test(type)) {
    const found = type === undefined ? "has no content-type" : `is ${JSON.stringify(type.slice(0, 100))}`;
    throw new Problem("unsupported-media-type", `The body ${found}; it must be application/json in UTF-8`);
  }
}

/** Counts the bytes as they arrive: never more than the limit is held, whatever content-length says. */
function readBody(request: Request, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > limit) reject(tooLarge(limit));
    else chunks.push(chunk);
  };
  const onEnd = (): void => resolve(Buffer.concat(chunks));
  const onClose = (): void => {
    if (!request.readableEnded) reject(cutOff());
  };
  if (Number(request.headers["content-length"] ?? 0) > limit) reject(tooLarge(limit));
  else if (request.destroyed) reject(cutOff());
  else request.on("data", onData).once("end", onEnd).once("close", onClose);
  return promise.finally(() => request.off("data", onData).off("end", onEnd).off("close", onClose));
}

const cutOff = (): Problem => new Problem("bad-request", "The body was cut off");

const tooLarge = (limit: number): Problem =>
  new Problem("payload-too-large", `The body is larger than the ${limit} bytes that are allowed`);

const missingBody = (): Problem => new Problem("invalid-input", undefined, { issues: [missingValue("body")] });
