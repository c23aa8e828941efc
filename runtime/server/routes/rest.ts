import type { Request, Response } from "express";
import type { Outcome } from "../../core/call.ts";
import type { Invoke } from "../../core/invoke.ts";
import { toExchangeId } from "../../core/peers/exchanges.ts";
import type { Service } from "../../core/service.ts";
import type { Manifest, SiteManifest } from "../../core/set/manifest.ts";
import type { Challenge } from "../../core/x402/challenge.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import { type Reply, toJsonReply } from "../reply/reply.ts";
import { disconnectSignal, type Exchange, exchangeOf } from "../request/exchange.ts";
import { encodeHeader, toDataHeaders } from "../request/headers.ts";
import { readInput } from "../request/input.ts";
import type { Limits } from "../request/limits.ts";
import type { Answer, Methods } from "./resource.ts";

export interface RestDeps {
  readonly services: readonly Service[];
  readonly invoke: Invoke;
  /** The challenge of an unpaid call; the same object for as long as it does not change. @throws Problem `unavailable`. */
  readonly challenge: (service: Service, resource: string) => Challenge;
  readonly baseUrl: string;
  readonly bounds: Pick<SiteManifest["limits"], "body_bytes" | "body_depth">;
  readonly limits: Pick<Limits, "forgive">;
  /** The value of the header `X-Payphone-Upstreams` on a service's results, if any. */
  readonly origins?: ((manifest: Manifest) => string | undefined) | undefined;
}

/** How a caller pays: the header's text, and whether it is the deprecated X-PAYMENT (x402 version 1). */
interface Payment {
  readonly text: string | undefined;
  readonly legacy: boolean;
}

/** The services as paths with methods. */
export function createRest(deps: RestDeps): ReadonlyMap<string, Methods> {
  const paths = new Map<string, Methods>();
  for (const service of deps.services) {
    const answer = toAnswer(service, deps);
    for (const { method, path } of service.routes) paths.set(path, { ...paths.get(path), [method]: answer });
  }
  return paths;
}

/** Whether a request brings a payment, good or bad. */
export const isPaying = ({ headers }: Request): boolean => paymentOf(headers).text !== undefined;

/** The unpaid call of a priced service is answered at once, from bytes made before; everything else goes through `invoke`. */
function toAnswer(service: Service, { invoke, challenge, baseUrl, bounds, limits, origins }: RestDeps): Answer {
  const priced = service.manifest.price !== undefined;
  const resource = `${baseUrl}${service.path}`;
  const unpaid = cachedReply(toChallengeReply);
  const origin = origins?.(service.manifest);
  const marks = origin === undefined ? [] : ["X-Payphone-Upstreams", origin];
  return (request, response) => {
    const exchange = exchangeOf(response);
    exchange.service = service.manifest.id;
    const payment = paymentOf(request.headers);
    // HEAD shows no result: a payment that came with it would buy nothing.
    if (!priced || (payment.text !== undefined && request.method !== "HEAD")) return call(request, response, payment);
    exchange.code = "payment-required";
    const due = challenge(service, resource);
    return isVersion1(request) ? toChallengeReply(due, due.v1()) : unpaid(due);
  };

  async function call(request: Request, response: Response, { text, legacy }: Payment): Promise<Reply> {
    const exchange = exchangeOf(response);
    const outcome = await invoke(service, {
      id: exchange.id,
      input: () => readInput(request, bounds),
      payment: priced ? text : undefined,
      resource,
      signal: disconnectSignal(response),
      exchange: toExchangeId(request.headers["x-a2a-exchange"]),
    });
    note(exchange, outcome);
    if (outcome.kind === "result" && outcome.receipt) limits.forgive(exchange.client, true);
    const headers = outcome.receipt ? toReceiptHeaders(outcome.receipt, legacy) : [];
    const reply =
      outcome.kind === "result"
        ? toJsonReply(outcome.output, 200, "private, no-store")
        : toChallengeReply(outcome.challenge, legacy || isVersion1(request) ? outcome.challenge.v1() : undefined);
    return { ...reply, headers: [...reply.headers, ...headers, ...(outcome.kind === "result" ? marks : [])] };
  }
}

function paymentOf(headers: Request["headers"]): Payment {
  const current = headers["payment-signature"];
  if (current) return { text: String(current), legacy: false };
  const legacy = headers["x-payment"];
  return legacy ? { text: String(legacy), legacy: true } : { text: undefined, legacy: false };
}

const isVersion1 = ({ url, query }: Request): boolean => url.includes("x402Version=1") && query.x402Version === "1";

const toChallengeReply = ({ body, header }: Challenge, v1?: Buffer): Reply => ({
  status: 402,
  headers: [...toDataHeaders("application/json", "no-store"), "PAYMENT-REQUIRED", header],
  body: v1 ?? body,
});

/** Remembers the reply to the last challenge: it changes only when a price or a rail does. */
function cachedReply(toReply: (challenge: Challenge) => Reply): (challenge: Challenge) => Reply {
  let made: { readonly challenge: Challenge; readonly reply: Reply } | undefined;
  return (challenge) => {
    if (made?.challenge !== challenge) made = { challenge, reply: toReply(challenge) };
    return made.reply;
  };
}

function toReceiptHeaders(receipt: SettleResponse, legacy: boolean): readonly string[] {
  const text = encodeHeader(receipt);
  return ["PAYMENT-RESPONSE", text, ...(legacy ? ["X-PAYMENT-RESPONSE", text] : [])];
}

function note(exchange: Exchange, { kind, receipt }: Outcome): void {
  exchange.payer = receipt?.payer;
  exchange.network = receipt?.network;
  exchange.transaction = receipt?.transaction || undefined;
  if (kind === "challenge") exchange.code = "payment-required";
}
