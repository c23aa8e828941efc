import type { Request, Response } from "express";
import { type Exchange, exchangeOf } from "../request/exchange.ts";
import { toDataHeaders } from "../request/headers.ts";

/** An answer that is ready to be sent. Handlers return it; only `createSend` touches a response. */
export interface Reply {
  readonly status: number;
  /** Names and values in turn, as `response.writeHead` takes them. */
  readonly headers: readonly string[];
  readonly body?: string | Buffer;
}

/** Sends a reply, once. */
export type Send = (response: Response, reply: Reply) => void;

/** Takes note of an exchange that has been answered. */
export type Recorder = (exchange: Exchange, request: Request, reply: Reply) => void;

/** How long a caller may go on sending a body that nobody reads. */
const UNREAD_BODY_MS = 2_000;

/** JSON that no shared cache may keep. */
export const toJsonReply = (value: unknown, status = 200, cacheControl = "no-store"): Reply => ({
  status,
  headers: toDataHeaders("application/json", cacheControl),
  body: JSON.stringify(value),
});

/** The function that sends replies: with the fixed headers, the request id and the length, in one write. */
export function createSend(fixed: readonly string[], record: Recorder): Send {
  return (response, reply) => {
    const exchange = exchangeOf(response);
    const headers = [...fixed, ...reply.headers, "X-Request-Id", exchange.id];
    if (reply.body !== undefined) headers.push("Content-Length", String(Buffer.byteLength(reply.body)));
    if (!response.req.complete) boundUnreadBody(response.req);
    response.writeHead(reply.status, headers).end(reply.body);
    record(exchange, response.req, reply);
  };
}

/**
 * An answer may be given before its request was read to the end. Closing at once could reset the connection before the
 * caller has read the answer; reading on for ever would be a gift to floods.
 */
function boundUnreadBody(request: Request): void {
  request.resume();
  const timer = setTimeout(() => request.complete || request.socket.destroy(), UNREAD_BODY_MS).unref();
  request.once("close", () => clearTimeout(timer));
}
