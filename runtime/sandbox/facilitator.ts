import { createServer, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import type { x402Facilitator } from "@x402/core/facilitator";
import { Problem } from "../api/problem.ts";
import { createSchemes, type FacilitatorChains } from "./facilitator-schemes.ts";
import { closeServer, listenOnLoopback } from "./json-rpc.ts";

/** What a facilitator of one's own is started with. */
export interface FacilitatorOptions {
  readonly chains: FacilitatorChains;
  /** 0 or nothing: any free one. */
  readonly port?: number;
  /** When given, every request must carry `Authorization: Bearer <authToken>`. */
  readonly authToken?: string;
  /** How long a settlement waits for its transaction; 15 seconds when left out. */
  readonly confirmationTimeoutMs?: number;
}

/** A running facilitator. */
export interface SandboxFacilitator {
  readonly url: string;
  /** How often each of its endpoints was asked. */
  stats(): { readonly supported: number; readonly verify: number; readonly settle: number };
  stop(): Promise<void>;
}

/**
 * Starts a facilitator that really verifies and settles on these chains: `POST /verify`, `POST /settle` and
 * `GET /supported` (x402-specification-v2, section 7), for versions 1 and 2.
 */
export async function startFacilitator(options: FacilitatorOptions): Promise<SandboxFacilitator> {
  const { chains, port = 0, authToken, confirmationTimeoutMs = 15_000 } = options;
  const schemes = await createSchemes(chains, confirmationTimeoutMs);
  const asked = { supported: 0, verify: 0, settle: 0 };
  const endpoints: Endpoints = {
    "GET /supported": async () => {
      asked.supported += 1;
      return schemes.getSupported();
    },
    "POST /verify": async (request) => {
      asked.verify += 1;
      return schemes.verify(...(await readPayment(request)));
    },
    "POST /settle": async (request) => {
      asked.settle += 1;
      return schemes.settle(...(await readPayment(request)));
    },
  };
  const server = createServer(async (request, response) => {
    const isAllowed = authToken === undefined || request.headers.authorization === `Bearer ${authToken}`;
    const [status, body] = isAllowed ? await answer(endpoints, request) : UNAUTHORIZED;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  return {
    url: await listenOnLoopback(server, port),
    stats: () => ({ ...asked }),
    stop: () => closeServer(server),
  };
}

type Endpoints = Readonly<Record<string, (request: IncomingMessage) => Promise<unknown>>>;
type Answer = readonly [status: number, body: unknown];
type Payment = Parameters<x402Facilitator["verify"]>;

const UNAUTHORIZED: Answer = [401, { error: "Send Authorization: Bearer with the facilitator's token" }];

async function answer(endpoints: Endpoints, request: IncomingMessage): Promise<Answer> {
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
