import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Request, Response } from "express";
import type { Clock } from "../../api/capabilities.ts";
import { CUT_OFF } from "../../core/call.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import { toClientKey } from "./limits.ts";

/** The facts of one request. The last eight fields are filled in for the access log. */
export interface RequestContext {
  /** The caller's `X-Request-Id` when it is valid, otherwise a new UUID. */
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /** The URL's path, without the query. */
  readonly path: string;
  /** The client address, as the limits count it. */
  readonly client: string;
  /** The points counted for the body: its bytes, and more for its fields. */
  bodyBytes: number;
  service: string | undefined;
  payer: string | undefined;
  network: string | undefined;
  transaction: string | undefined;
  /** What was paid, in the asset's atomic units. */
  amount: string | undefined;
  asset: string | undefined;
  /** Whether it was paid for an earlier call, whose answer this is. */
  isReplay: boolean;
  code: string | undefined;
}

const SANE_ID = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * A UUID that begins with the time in milliseconds (RFC 9562, version 7): the book's keys of requests that follow one
 * another then share pages, where random ones would each change another page.
 */
function newRequestId(now: number): string {
  const time = Math.floor(now).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice("xxxxxxxx-xxxx-4".length)}`;
}

/** Creates the context of a request and keeps it in `response.locals`. */
export function openContext(request: Request, response: Response, clock: Clock): RequestContext {
  const given = request.headers["x-request-id"];
  const query = request.url.indexOf("?");
  const now = clock.now();
  const context: RequestContext = {
    id: typeof given === "string" && SANE_ID.test(given) ? given : newRequestId(now),
    startedAt: now,
    path: query < 0 ? request.url : request.url.slice(0, query),
    client: toClientKey(request.ip),
    bodyBytes: 0,
    service: undefined,
    payer: undefined,
    network: undefined,
    transaction: undefined,
    amount: undefined,
    asset: undefined,
    isReplay: false,
    code: undefined,
  };
  response.locals.context = context;
  return context;
}

interface Paid {
  readonly asset?: string;
  readonly isRepeat?: boolean;
}

/** The context that `openContext` created. */
export const contextOf = (response: Response): RequestContext => response.locals.context as RequestContext;

/** Notes how the request's call was paid, with which token, and whether for an earlier call. */
export function noteReceipt(context: RequestContext, receipt: SettleResponse | undefined, paid: Paid): void {
  context.payer = receipt?.payer;
  context.network = receipt?.network;
  context.transaction = receipt?.transaction || undefined;
  context.amount = receipt?.success ? receipt.amount : undefined;
  context.asset = context.amount === undefined ? undefined : paid.asset;
  context.isReplay = paid.isRepeat === true;
}

/** The responses that the server has cut off itself. */
const cutOff = new WeakSet<ServerResponse>();

/** Notes that the server is about to cut a response off: its caller has not left. */
export const noteCutOff = (response: ServerResponse): void => void cutOff.add(response);

/** A signal that is aborted when the caller leaves before the answer, or with `CUT_OFF`. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const leave = (): void => {
    if (!response.writableEnded) controller.abort(cutOff.has(response) ? CUT_OFF : undefined);
  };
  if (response.closed) leave();
  else response.once("close", leave);
  return controller.signal;
}
