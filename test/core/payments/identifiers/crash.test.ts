import type { x402Client } from "@x402/core/client";
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import { appendPaymentIdentifierToExtensions, generatePaymentId } from "@x402/extensions/payment-identifier";
import { expect } from "chai";
import { run } from "../../../cli/call/run.ts";
import { rail, sharedSandbox, type TestSandbox } from "../../../support/chains/chains.ts";
import { type FacilitatorProxy, startFacilitatorProxy } from "../../../support/chains/facilitator-proxy.ts";
import { eventually } from "../../../support/eventually.ts";
import { createFolder } from "../../../support/folder.ts";
import { makeProjectShop } from "../../../support/sellers/project-shop.ts";
import { type Seller, startSeller } from "../../../support/sellers/seller.ts";
import { json, receiptOf, stockClient } from "../../../support/sellers/stock-buyer.ts";

const ROLL = { low: 1, high: 1_000_000_000 };

describe("an identifier of the official package and a crash", () => {
  let sandbox: TestSandbox;
  let proxy: FacilitatorProxy;
  let seller: Seller;
  let data: string;
  let dir: string;
  const start = (port = 0): Promise<Seller> =>
    startSeller({ sandbox, dir, dataDir: data, ...(port && { port }), env: { FACILITATOR_URL: proxy.url } });
  const received = (): Promise<bigint> => sandbox.usdc.balanceOf(sandbox.env.BASE_PAYMENT_ADDRESS!);

  before(async () => {
    sandbox = await sharedSandbox();
    dir = await makeProjectShop({ services: ["roll"], rails: ["base", "solana"] });
    data = createFolder();
    proxy = await startFacilitatorProxy(sandbox.description.facilitator);
    seller = await start();
  });
  afterEach(() => {
    proxy.mishaps = {};
  });
  after(async () => {
    await seller.kill();
    await proxy.stop();
  });

  /** A new signature under the identifier, made from the header alone. */
  async function sign(client: x402Client, id: string): Promise<string> {
    const unpaid = await fetch(`${seller.url}/v1/roll`, json(ROLL));
    const challenge = decodePaymentRequiredHeader(unpaid.headers.get("payment-required") as string);
    appendPaymentIdentifierToExtensions(challenge.extensions ?? {}, id);
    return encodePaymentSignatureHeader(await client.createPaymentPayload(challenge));
  }

  const buy = async (client: x402Client, id: string): Promise<Response> =>
    fetch(`${seller.url}/v1/roll`, json(ROLL, { "payment-signature": await sign(client, id) }));

  const MISHAPS: Record<string, "verify" | "before" | "after"> = {
    "after the payment was verified": "verify",
    "before the money moves": "before",
    "after the money has moved": "after",
  };
  const RAILS = ["base", "solana"] as const;

  /** Ends the seller when both payments have come to where it is to die; gives how many were settled so far. */
  function crashAt(mishap: "verify" | "before" | "after"): () => number {
    let settled = 0;
    let arrived = 0;
    const dead = Promise.withResolvers<void>();
    const die = async (): Promise<void> => {
      if (++arrived === RAILS.length) await seller.kill().then(dead.resolve);
      await dead.promise;
    };
    const count = (body: string): void => {
      if (JSON.parse(body).success) settled += 1;
    };
    proxy.mishaps[mishap === "verify" ? "verify" : "settle"] = async (forward) => {
      if (mishap === "after") count((await forward()).body);
      await die();
    };
    void dead.promise.then(() => {
      proxy.mishaps = {
        async settle(forward, response) {
          const { status, body } = await forward();
          count(body);
          response.writeHead(status, { "content-type": "application/json" }).end(body);
        },
      };
    });
    return () => settled;
  }

  for (const [when, mishap] of Object.entries(MISHAPS))
    it(`${when}, on ${RAILS.join(" and on ")}, is settled once in all, and finds its answer`, async () => {
      const clients = await Promise.all(RAILS.map((id) => stockClient(sandbox, id)));
      const purchases = clients.map((client) => ({ client, name: generatePaymentId() }));
      const settled = crashAt(mishap);
      await Promise.all(purchases.map(({ client, name }) => buy(client, name).catch(() => "cut")));
      seller = await start(Number(new URL(seller.url).port));
      for (const { client, name } of purchases) {
        const anew = (): Promise<Response> => buy(client, name).catch(() => Response.error());
        const found = await eventually(anew, ({ status }) => status === 200, 300);
        const again = await eventually(anew, ({ status }) => status === 200, 300);
        expect(await again.json()).to.deep.equal(await found.json());
        expect(receiptOf(again)).to.deep.equal(receiptOf(found));
      }
      expect(settled(), "transactions").to.equal(RAILS.length);
    });

  it("is named by payphone call --resume, on another day's command line", async () => {
    const before = await received();
    const options = { url: seller.url, input: JSON.stringify(ROLL), json: true };
    const BUYER_EVM_KEY = sandbox.description.buyer.evm.private_key;
    const one = JSON.parse((await run(options, { env: { BUYER_EVM_KEY } })).out);
    const two = JSON.parse(
      (await run({ ...options, identifier: one.payment.identifier }, { env: { BUYER_EVM_KEY } })).out,
    );
    expect(two.result).to.deep.equal(one.result);
    expect(two.receipt.transaction).to.equal(one.receipt.transaction);
    expect((await received()) - before).to.equal(1000n);
    expect(rail("base").network).to.equal(one.receipt.network);
  });
});
