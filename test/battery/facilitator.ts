import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { closeServer } from "../../runtime/sandbox/json-rpc.ts";
import { authorizationOf, type FacilitatorRequest, type Money } from "./money.ts";

/** How the facilitator misbehaves about one payment. */
export interface Script {
  /** Called with a valid payment before the seller hears that it is valid. */
  readonly onVerify?: (request: FacilitatorRequest) => Promise<void>;
  /** What becomes of the answer to a settlement that has moved the money: it never comes, or it is an error. */
  readonly afterSettle?: "hang" | "500";
}

/** A facilitator whose behaviour the battery scripts, by payment. */
export interface ScriptedFacilitator {
  readonly url: string;
  /** Sets the script for the payment with this nonce. */
  script(nonce: string, script: Script): void;
  /** The transfers that the payment with this nonce caused. */
  transfersOf(nonce: string): number;
  stop(): Promise<void>;
}

/** Starts it on loopback; `GET /supported`, `POST /verify` and `POST /settle` (x402 v2, section 7). */
export async function startScriptedFacilitator(money: Money, port = 0): Promise<ScriptedFacilitator> {
  const scripts = new Map<string, Script>();
  const transfers = new Map<string, number>();

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => send(response, 500, { error: String(error) }));
  }).listen(port, "127.0.0.1");
  await once(server, "listening");

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/supported") return send(response, 200, await money.supported());
    const asked = (await json(request)) as FacilitatorRequest;
    const { nonce } = authorizationOf(asked.paymentPayload);
    const script = scripts.get(nonce) ?? {};
    if (request.url === "/verify") return verify(asked, script, response);
    const settled = await money.settle(asked);
    if (settled.success) transfers.set(nonce, (transfers.get(nonce) ?? 0) + 1);
    if (settled.success && script.afterSettle === "hang") return;
    if (settled.success && script.afterSettle === "500") return send(response, 500, { error: "internal error" });
    send(response, 200, settled);
  }

  async function verify(asked: FacilitatorRequest, { onVerify }: Script, response: ServerResponse): Promise<void> {
    const verified = await money.verify(asked);
    if ("isValid" in verified && verified.isValid) await onVerify?.(asked);
    send(response, 200, verified);
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    script: (nonce, script) => void scripts.set(nonce, script),
    transfersOf: (nonce) => transfers.get(nonce) ?? 0,
    stop: () => closeServer(server),
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
