import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  decodePaymentResponseHeader,
  decodePaymentSignatureHeader,
  encodePaymentSignatureHeader,
} from "@x402/core/http";
import { expect } from "chai";
import { verifyMessage } from "viem";
import { rail, type TestSandbox } from "../support/chains/chains.ts";
import type { Seller } from "../support/sellers/seller.ts";
import { type SharedSeller, sharedSeller } from "../support/sellers/shared-seller.ts";
import { json, type PayingFetch, receiptOf, stockFetch, stockFetchV1 } from "../support/sellers/stock-buyer.ts";

const HASHES = { input_hash: "a".repeat(64), output_hash: "B".repeat(64) };

describe("a stock x402 buyer", () => {
  let sandbox: TestSandbox;
  let seller: Seller;
  let received: SharedSeller["received"];
  before(async () => {
    ({ sandbox, seller, received } = await sharedSeller());
  });

  const prices = { base: 1000n, solana: 1000n, polygon: 10n ** 17n };

  for (const id of ["base", "solana", "polygon"] as const) {
    it(`pays with ${rail(id).title}, and exactly the price arrives on the chain`, async () => {
      const before = await received[id]();
      const pay = await stockFetch(sandbox, id);
      const response = await pay(`${seller.url}/v1/roll`, json({ low: 1, high: 6, count: 3, label: "dice" }));
      expect(response.status).to.equal(200);
      const receipt = receiptOf(response);
      expect(receipt).to.include({ success: true, network: rail(id).network });
      const roll = (await response.json()) as { result: number[]; label: string };
      expect(roll.result).to.have.length(3);
      expect(roll.label).to.equal("dice");
      expect((await received[id]()) - before).to.equal(prices[id]);
    });

    it(`settles 25 calls at once with ${rail(id).title}`, async () => {
      const before = await received[id]();
      const pay = await stockFetch(sandbox, id);
      const calls = Array.from({ length: 25 }, (_, at) => pay(`${seller.url}/v1/roll`, json({ low: 0, high: at })));
      const answers = await Promise.all(calls);
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(25).fill(200));
      expect(new Set(answers.map((answer) => receiptOf(answer).transaction)).size).to.equal(25);
      expect((await received[id]()) - before).to.equal(25n * prices[id]);
    });
  }

  for (const id of ["base", "polygon"] as const)
    it(`that writes addresses in capitals, which are no checksum, pays with ${rail(id).title}`, async () => {
      const capital = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`;
      const pay = await stockFetch(sandbox, id, async (input, init) => {
        const request = new Request(input, init);
        const header = request.headers.get("payment-signature");
        if (header === null) return fetch(request);
        const payment = decodePaymentSignatureHeader(header);
        const { authorization, signature } = payment.payload as {
          authorization: Record<string, string>;
          signature: string;
        };
        const { from = "", to = "" } = authorization;
        const payload = { signature, authorization: { ...authorization, from: capital(from), to: capital(to) } };
        request.headers.set("payment-signature", encodePaymentSignatureHeader({ ...payment, payload }));
        return fetch(request);
      });
      const response = await pay(`${seller.url}/v1/roll`, json({ low: 1, high: 6 }));
      expect(response.status).to.equal(200);
      expect(receiptOf(response).payer?.toLowerCase()).to.equal(sandbox.description.buyer.evm.address.toLowerCase());
    });

  for (const id of ["base", "solana"] as const) {
    it(`of version 1 pays on ${id} and gets X-PAYMENT-RESPONSE`, async () => {
      const pay = await stockFetchV1(sandbox, id);
      const response = await pay(`${seller.url}/v1/roll?x402Version=1`, json({ low: 1, high: 6 }));
      expect(response.status).to.equal(200);
      const receipt = decodePaymentResponseHeader(response.headers.get("x-payment-response") ?? "");
      expect(receipt).to.deep.equal({ ...receiptOf(response), network: id });
    });
  }

  it("may end the address of an endpoint with a slash", async () => {
    const client = new Client({ name: "buyer", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${seller.url}/mcp/`)));
    expect((await client.listTools()).tools).not.to.deep.equal([]);
    await client.close();
    const asked = json({ jsonrpc: "2.0", id: 1, method: "tasks/list" });
    const answer = await fetch(`${seller.url}/v1/a2a/`, asked);
    expect([answer.status, await answer.json()]).to.deep.equal([
      200,
      await (await fetch(`${seller.url}/v1/a2a`, asked)).json(),
    ]);
  });

  describe("of each service", () => {
    let pay: PayingFetch;
    before(async () => {
      pay = await stockFetch(sandbox, "base");
    });
    const buy = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
      const response = await pay(seller.url + path, json(body));
      const answer = (await response.json()) as Record<string, unknown>;
      expect(response.status, JSON.stringify(answer)).to.equal(200);
      return answer;
    };
    const verify = async (body: unknown): Promise<Record<string, unknown>> =>
      (await (await fetch(`${seller.url}/v1/attest/verify`, json(body))).json()) as Record<string, unknown>;

    it("gets rolls that the treasury has signed", async () => {
      const { range, count, commitment, label, result, input_hash, result_hash, signature, signer, domain } = await buy(
        "/v1/roll",
        { low: -5, high: 5, commitment: "c".repeat(64) },
      );
      const message = JSON.stringify({ commitment, count, domain, input_hash, label, range, result, result_hash });
      const signed = { address: signer as `0x${string}`, message, signature: signature as `0x${string}` };
      expect(await verifyMessage(signed)).to.equal(true);
      expect(domain).to.equal("payphone/roll/v1");
    });

    it("gets dates", async () => {
      const parsed = await buy("/v1/parse/datetime", { input: "2026-03-30T02:30:00", timezone: "Europe/Berlin" });
      expect(parsed).to.include({ iso: "2026-03-30T02:30:00+02:00", confidence: "high" });
    });

    it("gets anchors that both chains hold", async () => {
      const { merkle_root, base, solana } = (await buy("/v1/anchor", { data: { b: [1, 2], a: "x" } })) as {
        merkle_root: string;
        base: { tx: string };
        solana: { tx: string };
      };
      const transaction = (await sandbox.base.rpc("eth_getTransactionByHash", [base.tx])) as { input: string };
      expect(transaction.input).to.equal(`0x${merkle_root}`);
      const answer = await fetch(sandbox.solana.url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "getTransaction",
          params: [solana.tx, { encoding: "base64", maxSupportedTransactionVersion: 0 }],
        }),
      });
      const { result } = (await answer.json()) as { result: { transaction: [string]; meta: { err: unknown } } };
      expect(result.meta.err).to.equal(null);
      expect(Buffer.from(result.transaction[0], "base64").toString("latin1")).to.contain(merkle_root);
    });

    it("gets attestations that anybody can verify for free, and that no other claim fits", async () => {
      const receipt = await buy("/v1/attest", { ...HASHES, decision: "approve" });
      expect(receipt).to.include({
        signed_by: "treasury",
        signer_verified: true,
        verify_url: `${seller.url}/v1/attest/verify`,
      });
      const { signature, base } = receipt as { signature: string; base: { tx: string } };
      const claim = { ...HASHES, decision: "approve", scheme: "eip191", signature, base_tx: base.tx };
      expect(await verify(claim)).to.include({
        valid: true,
        signature_valid: true,
        anchor_confirmed: true,
        root_matches: true,
      });
      expect(await verify({ ...claim, decision: "refuse" })).to.include({ valid: false, root_matches: false });
    });
  });
});
