import { randomBytes } from "node:crypto";
import { expect } from "chai";
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from "../../runtime/core/x402/x402.ts";
import { createScriptedRail, move, refuses, type ScriptedRail } from "../support/chains/scripted-rail.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";

const MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";

/** A transaction of 1000 atomic units whose blockhash is random, and so is unlike any other. */
function transfer(): string {
  const data = Buffer.alloc(10);
  data.writeUInt8(12);
  data.writeBigUInt64LE(1000n, 1);
  const message = [Buffer.from([1, 0, 0, 1]), Buffer.alloc(32, 7), randomBytes(32), Buffer.from([1, 0, 0, 10]), data];
  return Buffer.concat([Buffer.from([1]), Buffer.alloc(64), ...message]).toString("base64");
}

/** A facilitator on Solana that takes only transactions whose fee is paid by who the terms say, as the stock one does. */
function createSolana(): ScriptedRail {
  const rail = createScriptedRail({
    id: "solana",
    title: "USDC on Solana",
    network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    asset: MINT,
    pay_to: "SOLANA_PAYMENT_ADDRESS",
    rpc: "SOLANA_RPC_URL",
  });
  const signedFor = new Map<string, unknown>();
  const isSame = ({ payload }: PaymentPayload, { extra }: PaymentRequirements): boolean =>
    signedFor.get(String(payload.transaction)) === extra.feePayer;
  rail.script.verify = (payment, offer) =>
    isSame(payment, offer) ? { isValid: true } : { isValid: false, invalidReason: "fee_payer_mismatch" };
  return Object.assign(rail, { signedFor });
}

describe("an offer that was made", () => {
  let solana: ScriptedRail & { signedFor?: Map<string, unknown> };
  let shop: Shop;
  let twin: Shop | undefined;
  beforeEach(async () => {
    solana = createSolana();
    solana.script.extra = { feePayer: "first" };
    shop = await openShop({ rail: solana });
  });
  afterEach(async () => {
    await twin?.close();
    twin = undefined;
    await shop.close();
  });

  const pay = async (at: Shop = shop): Promise<string> => {
    const { accepts, resource } = (await (
      await fetch(`${at.url}/v1/roll`, { method: "POST" })
    ).json()) as PaymentRequired;
    const [accepted] = accepts as [PaymentRequirements];
    const transaction = transfer();
    solana.signedFor?.set(transaction, accepted.extra.feePayer);
    return Buffer.from(JSON.stringify({ x402Version: 2, accepted, resource, payload: { transaction } })).toString(
      "base64",
    );
  };
  const send = (payment: string, at: Shop = shop): Promise<Response> =>
    at.post("/v1/roll", ROLL, { "payment-signature": payment });

  it("can be paid at another process, to which the facilitator named another payer of its fees", async () => {
    solana.script.extra = { feePayer: "second" };
    twin = await openShop({ rail: solana, store: shop.store, clock: shop.clock, baseUrl: shop.url });
    const toTwin = await pay(twin);
    expect((await send(toTwin, shop)).status).to.equal(200);
    expect((await send(await pay(shop), twin)).status).to.equal(200);
  });

  it("is not paid again with a transaction whose stored answer has run out, whatever the facilitator verifies", async () => {
    const payment = await pay();
    expect((await send(payment)).status).to.equal(200);
    shop.clock.advance(16 * 60_000);
    await shop.restart();
    solana.script.settle = refuses("duplicate_settlement");
    const replay = await send(payment);
    expect(replay.status).to.equal(402);
    expect(await replay.json()).to.have.property("error", "authorization_used");
    expect(shop.executions, "since the restart").to.equal(0);
  });

  it("is settled at its own terms: the amount, the recipient and the payer of fees that were signed", async () => {
    const payment = await pay();
    solana.script.extra = { feePayer: "second" };
    await shop.restart({ price: "0.002" });
    let settled: PaymentRequirements | undefined;
    solana.script.settle = (paid, offer) => {
      settled = offer;
      return move(solana, paid, offer);
    };
    expect((await send(payment)).status).to.equal(200);
    expect(settled).to.deep.include({ amount: "1000" }).and.have.nested.property("extra.feePayer", "first");
  });

  it("is looked for in a few places only, however much else the store holds and however often it is in vain", async () => {
    const asked: string[] = [];
    const { get, keys } = shop.store;
    Object.assign(shop.store, {
      get: (key: string) => asked.push(key) && get(key),
      keys: (prefix: string) => asked.push(`all of ${prefix}`) && keys(prefix),
    });
    const payment = Buffer.from(await pay(), "base64")
      .toString()
      .replace('"1000"', '"999"');
    for (let at = 0; at < 20; at++) {
      const response = await send(Buffer.from(payment).toString("base64"));
      expect(await response.json())
        .to.have.property("error")
        .match(/^no_matching_offer: /);
    }
    expect(asked.filter((key) => key.startsWith("all"))).to.deep.equal([]);
    expect(new Set(asked.filter((key) => key.startsWith("offer:"))).size).to.be.within(1, 64);
  });

  it("has run out when the clock was put back, too", async () => {
    await shop.close();
    shop = await openShop();
    const old = await Promise.all([
      shop.pay("/v1/roll", { validForSeconds: 7200 }),
      shop.pay("/v1/roll", { validForSeconds: 7200 }),
    ]);
    await shop.restart({ price: "0.002" });
    const buyOld = (payment: string): Promise<Response> =>
      shop.post("/v1/roll", ROLL, { "payment-signature": payment });
    expect((await buyOld(old[0] as string)).status, "at once").to.equal(200);
    shop.clock.advance(-60_000);
    shop.store.entries.clear(); // What an hour does to the record of the earlier offers.
    expect((await buyOld(old[1] as string)).status, "later").to.equal(402);
  });
});
