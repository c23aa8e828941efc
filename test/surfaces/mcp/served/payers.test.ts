import { x402Client } from "@x402/core/client";
import type { PaymentRequired } from "@x402/core/types";
import { authorizationTypes } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { expect } from "chai";
import { verifyTypedData } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createMcp } from "../../../../runtime/surfaces/mcp/mcp.ts";
import { encode } from "../../../support/sellers/signed.ts";
import { CONFIGURATIONS, type OfficialClient } from "./support/clients.ts";
import { type Served, serve } from "./support/serve.ts";
import { decode, type Loose, openStall, type Stall } from "./support/stall.ts";

const account = privateKeyToAccount(generatePrivateKey());
const wallet = new x402Client().register("eip155:8453", new ExactEvmScheme(account));
const ROLL = { name: "roll", arguments: { low: 4, high: 6 } };

/** How payers in the field find the challenge in a result, and bring the payment along with the same call. */
const PAYERS: readonly [name: string, pay: (client: OfficialClient) => Promise<Loose>][] = [
  [
    // x402, transport MCP: structuredContent or else the text, and the payment as an object.
    "the x402 MCP client",
    async (client) => {
      const { isError, structuredContent, content } = await client.callTool(ROLL);
      expect(isError).to.equal(true);
      const required: PaymentRequired = structuredContent ?? JSON.parse(content[0].text);
      const payment = await wallet.createPaymentPayload(required);
      return client.callTool({ ...ROLL, _meta: { "x402/payment": payment } });
    },
  ],
  [
    // Cloudflare's agents, withX402Client: _meta alone, a cap on the first offer, and the payment as base64 text.
    "Cloudflare's agents client",
    async (client) => {
      const { tools } = await client.listTools();
      const { isError, _meta } = await client.callTool(ROLL);
      const { accepts, resource, extensions, x402Version } = _meta["x402/error"];
      expect(isError && accepts[0].scheme === "exact" && BigInt(accepts[0].amount) <= 100_000n).to.equal(true);
      expect(tools[0].description).to.match(/0\.001 USD/);
      const payment = await wallet.createPaymentPayload({ x402Version, resource, accepts, extensions });
      return client.callTool({ ...ROLL, _meta: { "x402/payment": btoa(JSON.stringify(payment)) } });
    },
  ],
  [
    // Vercel's x402-mcp, withPayment: version 1 alone, as base64 text under a key of its own.
    "Vercel's x402-mcp client",
    async (client) => {
      const { structuredContent } = await client.callTool(ROLL);
      const { payload } = await wallet.createPaymentPayload(structuredContent);
      const payment = { x402Version: 1, scheme: "exact", network: "base", payload };
      return client.callTool({ ...ROLL, _meta: { "x402.payment": btoa(JSON.stringify(payment)) } });
    },
  ],
];

describe("a payer over MCP", () => {
  let stall: Stall;
  let served: Served;
  before(async () => {
    stall = await openStall();
    served = await serve((baseUrl) => createMcp({ ...stall.parts, baseUrl, loopback: true }));
    stall.rails.base.script.verify = async ({ payload }, offer) => {
      const isValid = await isSigned(payload as Loose, offer as Loose);
      return { isValid, payer: account.address, ...(!isValid && { invalidReason: "invalid_signature" }) };
    };
  });
  after(async () => {
    await served.close();
    stall.close();
  });

  for (const [payer, pay] of PAYERS) {
    for (const { name, connect } of CONFIGURATIONS) {
      it(`like ${payer} buys with client ${name}`, async () => {
        const client = await connect(served.url);
        const result = await pay(client);
        await client.close();
        expect(result.isError ?? false, JSON.stringify(result)).to.equal(false);
        expect(JSON.parse(result.content[0].text)).to.deep.equal({ value: 4 });
        expect(result._meta["x402/payment-response"]).to.include({ success: true, payer: account.address });
      });
    }
  }

  for (const header of ["payment-signature", "x-payment"]) {
    it(`of plain HTTP buys with ${header}, by repeating the identical call`, async () => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: ROLL });
      const post = (headers: Record<string, string>) =>
        fetch(served.url, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
      const unpaid = await post({});
      expect(unpaid.status).to.equal(200);
      expect(unpaid.headers.get("payment-required")).to.equal(null);
      const required = ((await unpaid.json()) as Loose).result.structuredContent;
      const { payload, ...payment } = await wallet.createPaymentPayload(required);
      const version1 = { x402Version: 1, scheme: "exact", network: "base" };
      const paid = await post({ [header]: encode({ ...(header === "x-payment" ? version1 : payment), payload }) });
      const { result } = (await paid.json()) as Loose;
      expect(JSON.parse(result.content[0].text)).to.deep.equal({ value: 4 });
      expect(decode(paid.headers.get("payment-response") ?? undefined)).to.include({ success: true });
      expect(paid.headers.has("x-payment-response")).to.equal(header === "x-payment");
    });
  }

  it("that goes away before its call is paid is not charged", async () => {
    const { resource, accepts } = (await stall.call("roll")).body.result.structuredContent;
    const url = served.url;
    const payment = await wallet.createPaymentPayload({ x402Version: 2, accepts, resource: { ...resource, url } });
    const settled = stall.rails.base.asked.settle;
    const started = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    stall.handler = (_input, { signal }) => {
      started.resolve();
      signal.addEventListener("abort", () => stopped.resolve());
      return new Promise(() => {});
    };
    const gone = new AbortController();
    const params = { ...ROLL, _meta: { "x402/payment": payment } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const headers = { "content-type": "application/json" };
    const call = fetch(url, { method: "POST", body, headers, signal: gone.signal }).catch(() => undefined);
    await started.promise;
    gone.abort();
    await stopped.promise;
    await call;
    stall.handler = undefined;
    expect(stall.rails.base.asked.settle).to.equal(settled);
  });
});

/** Whether the payer's wallet signed exactly this transfer (EIP-3009) for this offer. */
function isSigned({ authorization, signature }: Loose, { asset, extra }: Loose): Promise<boolean> {
  return verifyTypedData({
    address: account.address,
    domain: { name: extra.name, version: extra.version, chainId: 8453, verifyingContract: asset },
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message: authorization,
    signature,
  });
}
