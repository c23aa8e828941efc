import { randomUUID } from "node:crypto";
import type { Request, Response } from "express";
import type { Clock } from "../../api/capabilities.ts";
import { toClientKey } from "./limits.ts";

/** What is known of one request. The last five fields are filled in as they become known, for the access log. */
export interface Exchange {
  /** The caller's `X-Request-Id` when it is sane, otherwise a new UUID. */
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /** The URL's path, without the query. */
  readonly path: string;
  /** Whose budget of unpaid requests this one uses. */
  readonly client: string;
  service: string | undefined;
  payer: string | undefined;
  network: string | undefined;
  transaction: string | undefined;
  code: string | undefined;
}

const SANE_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Begins the exchange of a request and keeps it with its response. */
export function openExchange(request: Request, response: Response, clock: Clock): Exchange {
  const given = request.headers["x-request-id"];
  const query = request.url.indexOf("?");
  const exchange: Exchange = {
    id: typeof given === "string" && SANE_ID.test(given) ? given : randomUUID(),
    startedAt: clock.now(),
    path: query < 0 ? request.url : request.url.slice(0, query),
    client: toClientKey(request.ip),
    service: undefined,
    payer: undefined,
    network: undefined,
    transaction: undefined,
    code: undefined,
  };
  response.locals.exchange = exchange;
  return exchange;
}

/** The exchange that `openExchange` began. */
export const exchangeOf = (response: Response): Exchange => response.locals.exchange as Exchange;

/** A signal that is aborted when the caller goes away before an answer was given. */
export function disconnectSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  const leave = (): void => {
    if (!response.writableEnded) controller.abort();
  };
  if (response.closed) leave();
  else response.once("close", leave);
  return controller.signal;
}
