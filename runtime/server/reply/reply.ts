import type { Request, Response } from "express";
import type { MediaOutput } from "../../core/proxy/media.ts";
import { hasBody } from "../request/body.ts";
import { contextOf, type RequestContext } from "../request/context.ts";
import { toDataHeaders } from "./headers.ts";
import type { HoldAnswer } from "./unread.ts";

/** A complete answer. Responders return it; only `createSend` writes to a response. */
export interface Reply {
  readonly status: number;
  /** Names and values in turn, as `response.writeHead` takes them. */
  readonly headers: readonly string[];
  readonly body?: string | Buffer;
}

/** Sends a reply, once. */
export type Send = (response: Response, reply: Reply) => void;

/** Logs a request that has been answered. */
export type Recorder = (context: RequestContext, request: Request, reply: Reply) => void;

/** What is done about the answers that are sent. */
export interface SendDeps {
  readonly hold: HoldAnswer;
  readonly record: Recorder;
  /** Called with the number of body bytes that arrived without being read by a responder. */
  readonly onUnread: (client: string, bytes: number) => void;
}

/** How many bytes a caller may go on sending of a body that is not read; for how long, the server's time limits say. */
const UNREAD_BODY_BYTES = 1_048_576;

/** A JSON answer; by default caches must not keep it. */
export const toJsonReply = (value: unknown, status = 200, cacheControl = "no-store"): Reply => ({
  status,
  headers: toDataHeaders("application/json", cacheControl),
  body: JSON.stringify(value),
});

/** A file as the body. `Age` is set when the answer comes from the seller's cache (RFC 9111, section 5.1). */
export const toFileReply = ({ media, data, age_seconds }: MediaOutput): Reply => ({
  status: 200,
  headers: [
    ...toDataHeaders(media, "private, no-store"),
    ...(age_seconds === undefined ? [] : ["Age", String(age_seconds)]),
  ],
  body: Buffer.from(data, "base64"),
});

/** Creates the function that sends replies, with the fixed headers, the request id and the length, in one write. */
export function createSend(fixed: readonly string[], { hold, record, onUnread }: SendDeps): Send {
  return (response, reply) => {
    const context = contextOf(response);
    const headers = [...fixed, ...reply.headers, "X-Request-Id", context.id];
    const bytes = Buffer.byteLength(reply.body ?? "");
    if (reply.body !== undefined) headers.push("Content-Length", String(bytes));
    hold(response, context.client, bytes);
    const isRead = response.req.complete || !hasBody(response.req);
    if (!isRead && mayBeCut(response.req)) response.shouldKeepAlive = false;
    response.writeHead(reply.status, headers);
    if (isRead) response.end(reply.body);
    else answerEarly(response, reply, (bytes) => onUnread(context.client, bytes));
    record(context, response.req, reply);
  };
}

/**
 * Whether a body may have more bytes than that; a chunked one does not say. Its connection is not kept: a proxy would send
 * the next caller's request on it, which is lost when the connection is cut.
 */
const mayBeCut = ({ headers }: Request): boolean =>
  Number(headers["content-length"] ?? Number.POSITIVE_INFINITY) > UNREAD_BODY_BYTES;

/**
 * Answers a request whose body has not been sent to the end. Closing at once could reset the connection before the
 * caller, or a proxy that speaks HTTP/1.0, has read the answer; reading on without a limit would help floods.
 */
function answerEarly(response: Response, { body }: Reply, tell: (bytes: number) => void): void {
  const { req: request } = response;
  let bytes = 0;
  // Where the connection is not kept, its end closes it.
  if (response.shouldKeepAlive) response.end(body);
  else if (body === undefined) response.flushHeaders();
  else response.write(body);
  request.resume().on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > UNREAD_BODY_BYTES) request.socket.destroy();
  });
  request.once("close", () => {
    response.end();
    if (bytes > 0) tell(bytes);
  });
}
