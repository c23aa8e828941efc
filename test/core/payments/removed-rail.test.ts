import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { PaymentRequired, PaymentRequirements } from "../../../runtime/core/x402/x402.ts";
import { createScriptedRail, move, type ScriptedRail } from "../../support/chains/scripted-rail.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";
import { authorize, encode } from "../../support/sellers/signed.ts";

const POLYGON = "eip155:137";

/** Dollars on Polygon with some decimals. */
const dollars = (id: string, decimals: number): ScriptedRail =>
  createScriptedRail({ id, network: POLYGON, asset: `0x${String(decimals).repeat(20)}`, decimals });

describe("a rail that is removed", () => {
  let fine: ScriptedRail;
  let shop: Shop;
  let later: Shop | undefined;
  beforeEach(async () => {
    fine = dollars("fine", 18);
    shop = await openShop({ others: [dollars("coarse", 10), fine] });
  });
  afterEach(async () => {
    await later?.close();
    later = undefined;
    await shop.close();
  });

  /** The same shop with these rails beside the one on Base. */
  const change = async (...others: ScriptedRail[]): Promise<Shop> => {
    later = await openShop({ others, store: shop.store, clock: shop.clock, baseUrl: shop.url });
    return later;
  };
  /** A payment in the token that has 18 decimals. */
  const pay = async (): Promise<string> => {
    const challenge = (await (await fetch(`${shop.url}/v1/roll`, { method: "POST" })).json()) as PaymentRequired;
    const accepted = challenge.accepts.find(({ asset }) => asset === fine.manifest.asset) as PaymentRequirements;
    const payload = authorize(accepted, Math.floor(shop.clock.now() / 1000), { nonce: 1 });
    return encode({ x402Version: 2, accepted, payload, resource: challenge.resource });
  };
  const send = (at: Shop, payment: string): Promise<Response> =>
    at.post("/v1/roll", ROLL, { "payment-signature": payment });
  const errorOf = async (response: Response): Promise<string> => ((await response.json()) as { error: string }).error;

  it("still delivers what was bought with it, also when its network has no other", async () => {
    const payment = await pay();
    const bought = await send(shop, payment);
    expect(bought.status).to.equal(200);
    const again = await send(await change(), payment);
    expect(again.status).to.equal(200);
    expect(await again.json()).to.deep.equal(await bought.json());
    expect((await later?.post("/v1/roll", { low: 2, high: 6 }, { "payment-signature": payment }))?.status).to.equal(
      409,
    );
  });

  it("is paid what it has offered, for as long as an offer is valid, when it is kept as retired", async () => {
    const payment = await pay();
    const retired: ScriptedRail = { ...fine, isRetired: true };
    const at = await change(retired);
    const { accepts } = (await (await fetch(`${at.url}/v1/roll`, { method: "POST" })).json()) as PaymentRequired;
    expect(accepts.map(({ network }) => network)).to.deep.equal(["eip155:8453"]);
    const asked = fine.asked.supported;
    const bought = await send(at, payment);
    expect([bought.status, at.receipt(bought).network]).to.deep.equal([200, POLYGON]);
    expect([fine.moved.size, fine.asked.supported - asked], "it is not asked what it supports").to.deep.equal([1, 0]);

    const late = JSON.parse(Buffer.from(payment, "base64").toString());
    at.clock.advance(8 * 60_000);
    const signed = authorize(late.accepted, Math.floor(at.clock.now() / 1000), { nonce: 2 });
    const response = await send(at, encode({ ...late, payload: signed }));
    expect([response.status, fine.moved.size]).to.deep.equal([402, 1]);
    expect(await errorOf(response)).to.match(/^no_matching_offer/);
  });

  it("has its chain asked about a payment whose outcome is not known, when it is kept as retired", async () => {
    fine.script.settle = (sent, offer) => {
      fine.script.find = () => {
        throw new Problem("upstream-failed");
      };
      move(fine, sent, offer);
      throw new Problem("settlement-unknown");
    };
    const payment = await pay();
    expect((await send(shop, payment)).status).to.equal(503);
    delete fine.script.find;
    const at = await change({ ...fine, isRetired: true });
    const delivered = await at.retry("/v1/roll", ROLL, payment);
    expect([delivered.status, at.receipt(delivered).network]).to.deep.equal([200, POLYGON]);
    expect([shop.executions, fine.moved.size]).to.deep.equal([1, 1]);
  });

  it("sells no more on its network, and says what is taken", async () => {
    const response = await send(await change(), await pay());
    expect(response.status).to.equal(402);
    expect(await errorOf(response)).to.equal(
      "unsupported_network: accepted.network is eip155:137, must be one of eip155:8453",
    );
  });

  it("is not what a payment of a network names that is no network at all", async () => {
    const payment = JSON.parse(Buffer.from(await pay(), "base64").toString());
    for (const network of [`eip155:${"1".repeat(5000)}`, "eip155:", "solana:a b", "eip155:1\n"]) {
      const response = await send(shop, encode({ ...payment, accepted: { ...payment.accepted, network } }));
      expect(response.status).to.equal(402);
      expect(await errorOf(response)).to.match(
        /^unsupported_network: accepted\.network is .{1,80}, must be one of eip155:8453/s,
      );
    }
  });

  it("leaves its offers to no other token of the network, whose decimals and price are others", async () => {
    const coarse = dollars("coarse", 10);
    const response = await send(await change(coarse), await pay());
    expect(response.status).to.equal(402);
    expect(await errorOf(response)).to.equal(
      `no_matching_offer: asset is ${fine.manifest.asset}, the offer says ${coarse.manifest.asset}`,
    );
    expect([coarse.asked.verify, coarse.asked.settle, later?.executions]).to.deep.equal([0, 0, 0]);
  });
});
