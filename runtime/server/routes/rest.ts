import type { Request, Response } from "express";
import { Problem } from "../../api/problem.ts";
import type { Tallies } from "../../core/books/tallies.ts";
import type { Outcome } from "../../core/call.ts";
import type { Invoke } from "../../core/invoke.ts";
import { toExchangeId } from "../../core/peers/exchanges.ts";
import { toFile } from "../../core/proxy/media.ts";
import type { Service } from "../../core/service.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import type { Challenge } from "../../core/x402/challenge.ts";
import {
  type BroughtPayment,
  readPaymentHeaders,
  readSignInHeader,
  toReceiptHeaders,
  toRefusalHeader,
} from "../../surfaces/http/payment-headers.ts";
import { toDataHeaders } from "../reply/headers.ts";
import { type Reply, toFileReply, toJsonReply } from "../reply/reply.ts";
import { contextOf, disconnectSignal, noteReceipt, type RequestContext } from "../request/context.ts";
import { readRequestInput } from "../request/input.ts";
import type { BudgetName, Limits } from "../request/limits.ts";
import { isVersion1 } from "../request/target.ts";
import type { Methods, Responder } from "./resource.ts";

export interface RestDeps {
  readonly services: readonly Service[];
  readonly invoke: Invoke;
  /**
   * The challenge of an unpaid call. Returns the same object until the challenge changes. @throws Problem
   * `unavailable`.
   */
  readonly challenge: (service: Service, resource: string) => Challenge;
  readonly baseUrl: string;
  /** How deeply a body may be nested. */
  readonly maxDepth: number;
  readonly limits: Limits;
  /** Counts the calls that the limits refuse: their inputs are not read, and `invoke` never sees them. */
  readonly count?: Tallies["count"] | undefined;
  /** The value of the header `X-Payphone-Upstreams` on a service's results, if any. */
  readonly origins?: ((manifest: Manifest) => string | undefined) | undefined;
}

/** The services as paths with methods. */
export function createRest(deps: RestDeps): ReadonlyMap<string, Methods> {
  const paths = new Map<string, Methods>();
  for (const service of deps.services) {
    const respond = toResponder(service, deps);
    for (const { method, path } of service.routes) paths.set(path, { ...paths.get(path), [method]: respond });
  }
  return paths;
}

/** Counts calls with a payment, valid or not, apart from calls without one. */
const toCallBudget = ({ headers }: Request): BudgetName => (readPaymentHeaders(headers) ? "paying" : "unpaid");

/** An unpaid call of a priced service is answered from prepared bytes; every other call goes through `invoke`. */
function toResponder(service: Service, deps: RestDeps): Responder {
  const { invoke, challenge, baseUrl, maxDepth, limits, count, origins } = deps;
  const priced = service.manifest.price !== undefined;
  const resource = `${baseUrl}${service.path}`;
  const unpaid = cachedReply(toChallengeReply);
  const bounds = { maxBytes: service.bodyBytes, maxFields: service.bodyFields, maxDepth, limits };
  const origin = origins?.(service.manifest);
  const originHeaders = origin === undefined ? [] : ["X-Payphone-Upstreams", origin];
  return async (request, response) => {
    const context = contextOf(response);
    context.service = service.manifest.id;
    await limits.take(context.client, toCallBudget(request)).catch((refusal: unknown) => {
      count?.({ service: service.manifest.id, door: "rest", rail: "", what: `failed:${Problem.from(refusal).code}` });
      throw refusal;
    });
    const payment = readPaymentHeaders(request.headers);
    // A HEAD request shows no result, so a payment on it would buy nothing.
    const isCall = payment ?? (service.manifest.free && readSignInHeader(request.headers));
    if (!priced || (isCall && request.method !== "HEAD")) return call(request, response, payment);
    context.code = "payment-required";
    const due = challenge(service, resource);
    return isVersion1(request) ? toChallengeReply(due, due.v1()) : unpaid(due);
  };

  async function call(request: Request, response: Response, payment: BroughtPayment | undefined): Promise<Reply> {
    const context = contextOf(response);
    const outcome = await invoke(service, {
      id: context.id,
      input: () => readRequestInput(request, { ...bounds, context }),
      payment: payment?.value,
      signIn: readSignInHeader(request.headers),
      resource,
      signal: disconnectSignal(response),
      exchange: toExchangeId(request.headers["x-a2a-exchange"]),
    });
    note(context, outcome);
    if (outcome.kind === "challenge") {
      const v1 = payment?.legacy || isVersion1(request) ? outcome.challenge.v1() : undefined;
      const reply = toChallengeReply(outcome.challenge, v1);
      const refused = outcome.receipt ? toRefusalHeader(outcome.receipt, payment) : [];
      return { ...reply, headers: [...reply.headers, ...refused] };
    }
    const receipt = outcome.receipt ? Object.entries(toReceiptHeaders(outcome.receipt, payment)).flat() : [];
    if (outcome.receipt && !outcome.isRepeat) {
      limits.giveBack(context.client, "paying");
      limits.giveBack(context.client, "bytes", context.bodyBytes);
    }
    const file = toFile(service.manifest, outcome.output);
    const reply = file ? toFileReply(file) : toJsonReply(outcome.output, 200, "private, no-store");
    return { ...reply, headers: [...reply.headers, ...receipt, ...originHeaders] };
  }
}

const toChallengeReply = ({ body, header }: Challenge, v1?: Buffer): Reply => ({
  status: 402,
  headers: [...toDataHeaders("application/json", "no-store"), "PAYMENT-REQUIRED", header],
  body: v1 ?? body,
});

/** Keeps the reply to the last challenge. A challenge changes only with a price or a rail. */
function cachedReply(toReply: (challenge: Challenge) => Reply): (challenge: Challenge) => Reply {
  let made: { readonly challenge: Challenge; readonly reply: Reply } | undefined;
  return (challenge) => {
    if (made?.challenge !== challenge) made = { challenge, reply: toReply(challenge) };
    return made.reply;
  };
}

function note(context: RequestContext, outcome: Outcome): void {
  if (outcome.kind === "challenge") context.code = "payment-required";
  noteReceipt(context, outcome.receipt, outcome.kind === "result" ? outcome : {});
}
