import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import type { PaymentPayload } from "../../../runtime/core/x402/x402.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { encode } from "../../support/sellers/signed.ts";

/** A request that reached the seller. */
export interface Met {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  /** The PAYMENT-SIGNATURE header as it came. */
  readonly payment: string | undefined;
}

/** An answer; `undefined` closes the connection instead. */
export type Said =
  | {
      readonly status: number;
      readonly body?: unknown;
      /** The body's text or bytes, instead of `body`. */
      readonly text?: string | Uint8Array;
      readonly headers?: Readonly<Record<string, string>>;
      /** Whether the connection breaks within the body. */
      readonly isCut?: true;
      /** Whether the body goes on until the buyer leaves. */
      readonly isEndless?: true;
    }
  | undefined;

export const TRANSACTION = `0x${"ab".repeat(32)}`;
export const PAY_TO = "0x2222222222222222222222222222222222222222";
const NETWORK = "eip155:8453";

export const USDC_OFFER = {
  scheme: "exact",
  network: NETWORK,
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  amount: "1000",
  payTo: PAY_TO,
  maxTimeoutSeconds: 300,
  extra: { name: "USD Coin", version: "2" },
};
export const JPYC_OFFER = {
  ...USDC_OFFER,
  network: "eip155:137",
  asset: "0xE7C3D8C9a439feDe00D2600032D5dB0Be71C3c29",
  amount: "100000000000000000",
  extra: { name: "JPY Coin", version: "1" },
};

export const RESULT = { result: [4], label: "\u009b31mred\u202e\u{e0041}" };
export const PAID = {
  status: 200,
  body: RESULT,
  headers: {
    "payment-response": encode({ success: true, transaction: TRANSACTION, network: NETWORK, payer: "0x1" }),
  },
} satisfies Said;
export const NOT_YET = {
  status: 503,
  body: { title: "Not known yet", detail: "The outcome is not known yet", code: "settlement-unknown" },
  headers: { "retry-after": "0" },
} satisfies Said;

export interface Seller {
  readonly url: string;
  readonly met: Met[];
  /** The requests that carried a payment. */
  paid(): (Met & { readonly decoded: PaymentPayload })[];
  /** The sandbox's buyer. */
  readonly buyer: string;
  /** What a test may change. */
  script: {
    offers: readonly object[];
    /** Answers to paid requests in order; the last one is repeated. */
    answers: Said[];
    /** Answers to polls, likewise. */
    polls: Said[];
    sandbox: Said;
    /** Whether it leaves the questions open what it sells and whether it is a sandbox. */
    isSilent: boolean;
    /** The path below which the seller is. */
    path: string;
    unpaid: Said;
    extensions: Readonly<Record<string, unknown>> | undefined;
    priceUsd: string | null;
    /** The method of roll in the catalogue. */
    method: string;
    /** The id of one more service in the catalogue. */
    also: string | undefined;
    onPaid: () => void;
  };
  stop(): Promise<void>;
}

/** A scripted seller of two paid services (roll, and one that it does not list), a free one (verify) and a status route. */
export async function startSeller(): Promise<Seller> {
  const key = generatePrivateKey();
  const buyer = privateKeyToAddress(key);
  const met: Met[] = [];
  const script: Seller["script"] = {
    offers: [USDC_OFFER, JPYC_OFFER],
    answers: [PAID],
    polls: [{ status: 200, body: { status: "DELIVERED" } }],
    sandbox: { status: 200, body: { mode: "sandbox", buyer: { evm: { address: buyer, private_key: key } }, rpc: {} } },
    isSilent: false,
    path: "",
    unpaid: undefined,
    extensions: undefined,
    priceUsd: "0.001",
    method: "POST",
    also: undefined,
    onPaid: () => {},
  };

  function challenge(url: string): Said {
    const resource = { url, description: "Rolls\u001b[2J dice", mimeType: "application/json" };
    const { offers: accepts, extensions } = script;
    const body = { x402Version: 2, error: "Payment required", resource, accepts, ...(extensions && { extensions }) };
    return { status: 402, body, headers: { "payment-required": encode(body) } };
  }

  function answer({ url: asked, payment }: Met): Said {
    if (!asked.startsWith(script.path)) return { status: 404 };
    const url = asked.slice(script.path.length);
    if (script.isSilent && ["/", "/sandbox"].includes(url)) return undefined;
    if (url === "/") return { status: 200, body: { services: catalogue(script) } };
    if (url === "/sandbox") return script.sandbox;
    if (url.startsWith("/v1/jobs/")) return script.polls.length > 1 ? script.polls.shift() : script.polls[0];
    if (!/^\/v1\/(?:roll|unlisted)(?:\?|$)/.test(url)) return { status: 200, body: { valid: true } };
    if (payment === undefined) return script.unpaid ?? challenge(`${address}${asked}`);
    script.onPaid();
    return script.answers.length > 1 ? script.answers.shift() : script.answers[0];
  }

  const server = createServer(async (request, response) => {
    const one = await toMet(request);
    met.push(one);
    send(response, answer(one));
  });
  const address = await listenOnLoopback(server);
  return {
    url: address,
    met,
    buyer,
    script,
    paid: () =>
      met.flatMap((one) => (one.payment ? [{ ...one, decoded: JSON.parse(atob(one.payment)) as PaymentPayload }] : [])),
    stop: () => closeServer(server),
  };
}

const catalogue = ({ priceUsd, method, also }: Seller["script"]): object[] => [
  { id: "roll", method, path: "/v1/roll", price_usd: priceUsd },
  { id: "verify", method: "POST", path: "/v1/verify", price_usd: null },
  { id: "job", method: "GET", path: "/v1/jobs/{job_id}", price_usd: null },
  ...(also === undefined ? [] : [{ id: also, method: "GET", path: "/v1/also", price_usd: null }]),
];

async function toMet(request: IncomingMessage): Promise<Met> {
  const payment = request.headers["payment-signature"];
  return {
    method: request.method ?? "",
    url: request.url ?? "",
    body: request.method === "POST" ? await json(request) : undefined,
    payment: Array.isArray(payment) ? payment[0] : payment,
  };
}

/** A body of spaces that goes on for ever. */
function endless(): Readable {
  const spaces = " ".repeat(2 ** 16);
  return Readable.from(
    (function* () {
      for (;;) yield spaces;
    })(),
  );
}

function send(response: ServerResponse, said: Said): void {
  if (said === undefined) return void response.destroy();
  response.writeHead(said.status, { "content-type": "application/json", ...said.headers });
  if (said.isCut) return void response.write("{", () => response.destroy());
  if (said.isEndless) return void endless().pipe(response);
  response.end(said.text ?? (said.body === undefined ? "" : JSON.stringify(said.body)));
}
