import type { Request } from "express";
import { Problem } from "../../api/problem.ts";
import type { RequestContext } from "./context.ts";
import type { Limits } from "./limits.ts";

/** Whether the headers say that a body follows. */
export const hasBody = ({ headers }: Pick<Request, "headers">): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** How large a body may be, and the limits and the context in which its bytes are counted. */
export interface BodyTerms {
  readonly maxBytes: number;
  readonly limits: Limits;
  readonly context: RequestContext;
}

/**
 * Receives a body. Its declared size is counted before it is read. A chunked body counts as `maxBytes`; the difference
 * is given back at the end.
 * @throws Problem `payload-too-large`, `rate-limited`, `unavailable`, `bad-request` (the body was cut off).
 */
export async function receiveBody(request: Request, { maxBytes, limits, context }: BodyTerms): Promise<Buffer> {
  const declared = Number(request.headers["content-length"] ?? maxBytes);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  await limits.take(context.client, "bytes", declared);
  const body = await readBody(request, maxBytes);
  if (declared > body.length) limits.giveBack(context.client, "bytes", declared - body.length);
  context.bodyBytes = body.length;
  return body;
}

/** Parsing a field of an object costs about as much as parsing this many bytes of text. */
const FIELD_BYTES = 32;
/** Usual calls have fewer fields, and cost no request to the limiter. */
const FREE_FIELDS = 256;

/** Counts the fields of a received body before it is parsed. @throws Problem `rate-limited`, `unavailable`. */
export async function countFields(fields: number, { limits, context }: BodyTerms): Promise<void> {
  if (fields <= FREE_FIELDS) return;
  const points = Math.min(fields * FIELD_BYTES, Math.max(0, limits.bytesAtOnce - context.bodyBytes));
  await limits.take(context.client, "bytes", points);
  context.bodyBytes += points;
}

/** Reads the body and rejects as soon as it exceeds `maxBytes`, whatever content-length says. */
function readBody(request: Request, maxBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > maxBytes) reject(tooLarge(maxBytes));
    else chunks.push(chunk);
  };
  const onEnd = (): void => resolve(Buffer.concat(chunks));
  const onClose = (): void => {
    if (!request.readableEnded) reject(cutOff());
  };
  if (request.destroyed) reject(cutOff());
  else request.on("data", onData).once("end", onEnd).once("close", onClose);
  return promise.finally(() => request.off("data", onData).off("end", onEnd).off("close", onClose));
}

const cutOff = (): Problem => new Problem("bad-request", "The body was cut off");

const tooLarge = (limit: number): Problem =>
  new Problem("payload-too-large", `The body is larger than the ${limit} bytes that are allowed`);
