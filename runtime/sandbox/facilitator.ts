import { createServer, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import type { x402Facilitator } from "@x402/core/facilitator";
import { Problem } from "../api/problem.ts";
import { createSchemes, type FacilitatorChains } from "./facilitator-schemes.ts";
import { closeServer, listenOnLoopback } from "./json-rpc.ts";

/** How to start an embedded facilitator. */
export interface FacilitatorOptions {
  readonly chains: FacilitatorChains;
  /** How long a settlement waits for its transaction; 15 seconds by default. */
  readonly confirmationTimeoutMs?: number;
}

export interface SandboxFacilitator {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a facilitator that verifies and settles on these chains: `POST /verify`, `POST /settle` and `GET /supported`
 * (x402 v2, section 7), for versions 1 and 2.
 */
export async function startFacilitator(options: FacilitatorOptions): Promise<SandboxFacilitator> {
  const { chains, confirmationTimeoutMs = 15_000 } = options;
  const schemes = await createSchemes(chains, confirmationTimeoutMs);
  const endpoints: Endpoints = {
    "GET /supported": async () => schemes.getSupported(),
    "POST /verify": async (request) => schemes.verify(...(await readPayment(request))),
    "POST /settle": async (request) => schemes.settle(...(await readPayment(request))),
  };
  const server = createServer(async (request, response) => {
    const [status, body] = await answer(endpoints, request);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  return { url: await listenOnLoopback(server), stop: () => closeServer(server) };
}

type Endpoints = Readonly<Record<string, (request: IncomingMessage) => Promise<unknown>>>;
type EndpointAnswer = readonly [status: number, body: unknown];
type Payment = Parameters<x402Facilitator["verify"]>;

async function answer(endpoints: Endpoints, request: IncomingMessage): Promise<EndpointAnswer> {
  const endpoint = endpoints[`${request.method} ${request.url}`];
  if (!endpoint) return [404, { error: "Ask POST /verify, POST /settle or GET /supported" }];
  try {
    return [200, await endpoint(request)];
  } catch (error) {
    return [error instanceof Problem ? error.status : 500, { error: (error as Error).message }];
  }
}

async function readPayment(request: IncomingMessage): Promise<Payment> {
  const body = (await json(request).catch(() => undefined)) as Record<string, unknown> | null | undefined;
  if (!body?.paymentPayload || !body.paymentRequirements)
    throw new Problem("bad-request", "Send JSON with paymentPayload and paymentRequirements");
  return [body.paymentPayload, body.paymentRequirements] as Payment;
}
