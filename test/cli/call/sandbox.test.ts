import { createServer, type Server } from "node:http";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import { ExactSvmScheme } from "@x402/svm/exact/server";
import { expect } from "chai";
import express from "express";
import { listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { ask, requirementsOn } from "../../sandbox/buyer.ts";
import { rail, sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { run, runRefused } from "./run.ts";
import { type Seller, startSeller } from "./seller.ts";

const BASE = "eip155:8453";
const SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

describe("payphone call on embedded chains", () => {
  let sandbox: TestSandbox;
  before(async () => {
    sandbox = await sharedSandbox();
  });

  describe("from a sandbox", () => {
    let seller: Seller;
    before(async () => {
      seller = await startSeller();
      seller.script.sandbox = { status: 200, body: sandbox.description };
    });
    after(() => seller?.stop());

    for (const id of ["base", "solana"])
      it(`pays on ${id} so that a real facilitator settles it`, async () => {
        const requirements = await requirementsOn(sandbox, id, 1000n);
        seller.script.offers = [requirements];
        const { code, err } = await run({ url: seller.url, rail: id });
        expect(code, err).to.equal(0);
        const payment = seller.paid().at(-1)!.decoded;
        const { facilitator } = sandbox.description;
        expect(await ask(facilitator, "settle", payment, requirements)).to.include({ success: true });
      });

    it("asks the chain on loopback also where the seller goes by another name of this machine", async () => {
      seller.script.offers = [await requirementsOn(sandbox, "solana", 1000n)];
      const { code, err } = await run({ url: seller.url.replace("127.0.0.1", "localhost") });
      expect(code, err).to.equal(0);
    });

    it("pays nothing when the chain does not answer", async () => {
      const rpc = { solana: "http://127.0.0.1:9" };
      seller.script.sandbox = { status: 200, body: { ...sandbox.description, rpc } };
      seller.script.offers = [await requirementsOn(sandbox, "solana", 1000n)];
      const before = seller.paid().length;
      const { code, err } = await run({ url: seller.url });
      expect([code, seller.paid().length]).to.deep.equal([1, before]);
      expect(err).to.match(/payphone: the payment could not be signed: .+\. Nothing was paid\.$/);
    });
  });

  it("pays a seller that answers nothing but its own paths when it is told that this is no sandbox", async () => {
    const seller = await startSeller();
    try {
      seller.script.isSilent = true;
      const service = `${seller.url}/v1/roll`;
      const env = { BUYER_EVM_KEY: "5".repeat(64) };
      const { code, err } = await run({ service }, { env });
      expect([code, seller.paid().length]).to.deep.equal([1, 0]);
      expect(err).to.match(/ does not answer \(.*\), asked what it sells \(GET .*\/\): use --no-sandbox if /);
      const paid = await run({ service, sandbox: false }, { env });
      expect([paid.code, seller.paid().length], paid.err).to.deep.equal([0, 1]);
    } finally {
      await seller.stop();
    }
  });

  it("asks no other host than the seller's own for what it signs, since anybody can call itself a sandbox", async () => {
    const seller = await startSeller();
    try {
      const rpc = { solana: "http://198.51.100.1" };
      seller.script.sandbox = { status: 200, body: { ...sandbox.description, rpc } };
      seller.script.offers = [await requirementsOn(sandbox, "solana", 1000n)];
      const { code, err } = await run({ url: seller.url });
      expect([code, seller.paid().length]).to.deep.equal([2, 0]);
      expect(err).to.match(/RPC URL, http:\/\/198\.51\.100\.1, is on another host than it\. Nothing was paid\.$/);
    } finally {
      await seller.stop();
    }
  });

  it("lets no seller on Solana make its buyer pay the network's fee, which no limit counts", async () => {
    const seller = await startSeller();
    try {
      const { address } = sandbox.description.buyer.solana;
      seller.script.sandbox = { status: 200, body: sandbox.description };
      seller.script.offers = [{ ...(await requirementsOn(sandbox, "solana", 1000n)), extra: { feePayer: address } }];
      expect(await runRefused(seller, 3, {})).to.equal(
        `payphone: the seller names the buyer, ${address}, as the payer of the network's fee, which no limit counts. Nothing was paid.`,
      );
    } finally {
      await seller.stop();
    }
  });

  describe("from a stock @x402/express seller, with keys of the environment", () => {
    let server: Server;
    let url: string;
    before(async () => {
      const app = express();
      const sells = new x402ResourceServer(new HTTPFacilitatorClient({ url: sandbox.description.facilitator }))
        .register(BASE, new ExactEvmScheme())
        .register(SOLANA, new ExactSvmScheme());
      const offer = (network: typeof BASE | typeof SOLANA, id: string) => ({
        scheme: "exact" as const,
        price: "$0.01",
        network,
        payTo: sandbox.env[rail(id).pay_to]!,
      });
      const accepts = [offer(BASE, "base"), offer(SOLANA, "solana")];
      app.use(paymentMiddleware({ "POST /paid": { accepts, description: "Anything" } }, sells));
      app.post("/paid", (_request, response) => void response.json({ yours: true }));
      server = createServer(app);
      url = await listenOnLoopback(server);
    });
    after(() => {
      server?.closeAllConnections();
      server?.close();
    });

    const payers: readonly [id: string, explorer: string][] = [
      ["base", "https://basescan.org/tx/0x"],
      ["solana", "https://solscan.io/tx/"],
    ];
    for (const [id, explorer] of payers)
      it(`buys on ${id}, and shows a receipt that is on the chain`, async () => {
        const { buyer, rpc } = sandbox.description;
        const env = {
          BUYER_EVM_KEY: id === "base" ? buyer.evm.private_key : undefined,
          BUYER_SOLANA_KEY: id === "solana" ? buyer.solana.secret_key : undefined,
          SOLANA_RPC_URL: rpc.solana,
        };
        const { code, out, err } = await run({ service: `${url}/paid`, url: undefined, rail: id }, { env });
        expect(code, err).to.equal(0);
        expect(JSON.parse(out)).to.deep.equal({ yours: true });
        expect(err).to.include("  paid         0.01 USDC\n").and.include(`  explorer     ${explorer}`);
      });
  });
});
