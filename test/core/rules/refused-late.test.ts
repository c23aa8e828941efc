import { expect } from "chai";
import { move, refuses } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openShop, ROLL, type Shop, type ShopOptions } from "../../support/sellers/shop.ts";

const ALICE = "0xAbCdEf0000000000000000000000000000000002";
/** Counting notes when a call begins. */
const COUNTERS: NonNullable<ShopOptions["counters"]> = {
  tallies: { count: () => {}, end: () => {} },
  refusals: { note: () => {} },
  answers: { note: () => {} },
  inCall: (_note, call) => call(),
};

describe("the dollars of a wallet's day", () => {
  let shop: Shop;
  afterEach(() => shop.close());
  const send = async (payment = ""): Promise<number> =>
    (await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status;
  const silent = (): never => {
    throw new Error("the facilitator is silent");
  };
  const beginDay = (): void => shop.clock.advance(24 * 3_600_000 - (shop.clock.now() % (24 * 3_600_000)));

  it("do not have the price of a payment whose outcome was unknown, and which was refused in the end", async () => {
    shop = await openShop({ limits: { per_payer: { usd_per_day: "0.001" } } });
    beginDay();
    const [lost, other] = await Promise.all([1, 2].map(() => shop.pay("/v1/roll", { from: ALICE })));
    shop.rail.script.settle = silent;
    expect(await send(lost)).to.equal(503);
    expect(await send(other), "the first may still be charged").to.equal(429);
    shop.rail.script.find = () => ({ state: "dead" });
    await eventually(async () => (await send(lost)) === 402);
    delete shop.rail.script.find;
    delete shop.rail.script.settle;
    expect(await send(other)).to.equal(200);
    expect(await send(await shop.pay("/v1/roll", { from: ALICE })), "once").to.equal(429);
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("have the price of a refused payment again whose second settlement has no known outcome", async () => {
    shop = await openShop({ limits: { per_payer: { usd_per_day: "0.001" } } });
    beginDay();
    const [lost, other] = await Promise.all([1, 2].map(() => shop.pay("/v1/roll", { from: ALICE })));
    shop.rail.script.settle = refuses();
    expect(await send(lost)).to.equal(402);
    shop.rail.script.settle = silent;
    expect(await send(lost)).to.equal(503);
    expect(await send(other)).to.equal(429);
  });

  it("have it again once, where the second refusal could not be put on record at first", async () => {
    shop = await openShop({ limits: { per_payer: { usd_per_day: "0.001" } } });
    beginDay();
    const [lost, other, more] = await Promise.all([1, 2, 3].map(() => shop.pay("/v1/roll", { from: ALICE })));
    shop.rail.script.settle = refuses();
    expect(await send(lost)).to.equal(402);
    const { set } = shop.store;
    shop.store.set = async (key, value, ...rest) => {
      if ((value as { state?: string }).state === "rejected") throw new Error("the store is away");
      return set(key, value, ...rest);
    };
    expect(await send(lost)).to.equal(503);
    shop.store.set = set;
    shop.rail.script = { find: () => ({ state: "dead" }) };
    await eventually(async () => (await send(lost)) === 402);
    shop.rail.script = {};
    expect([await send(other), await send(more)]).to.deep.equal([200, 429]);
  });

  it("have the price of a payment once whose beginning the store would not record", async () => {
    shop = await openShop({ limits: { per_payer: { usd_per_day: "0.002" } } });
    beginDay();
    const [lost, other, more] = await Promise.all([1, 2, 3].map(() => shop.pay("/v1/roll", { from: ALICE })));
    const { putIfAbsent } = shop.store;
    shop.store.putIfAbsent = async (key, ...rest) => {
      if (key.startsWith("payment:")) throw new Error("the disk is full");
      return putIfAbsent(key, ...rest);
    };
    expect(await send(lost)).to.equal(503);
    shop.store.putIfAbsent = putIfAbsent;
    await eventually(async () => (await send(lost)) === 200);
    expect([await send(other), await send(more)]).to.deep.equal([200, 429]);
  });

  it("of the day on which a refused payment was settled again have its price back, once it is refused in the end", async () => {
    shop = await openShop({ limits: { per_payer: { usd_per_day: "0.001" } }, counters: COUNTERS });
    beginDay();
    shop.clock.advance(24 * 3_600_000 - 30_000);
    const lost = await shop.pay("/v1/roll", { from: ALICE });
    shop.rail.script.settle = refuses();
    expect(await send(lost)).to.equal(402);
    shop.clock.advance(60_000);
    shop.rail.script.settle = silent;
    expect(await send(lost)).to.equal(503);
    shop.rail.script.find = () => ({ state: "dead" });
    await eventually(async () => (await send(lost)) === 402);
    shop.rail.script = {};
    expect(await send(await shop.pay("/v1/roll", { from: ALICE }))).to.equal(200);
  });

  it("of the next day do not have more for a payment of the day before that was refused in the end", async () => {
    shop = await openShop({ limits: { per_payer: { usd_per_day: "0.001" } }, counters: COUNTERS });
    beginDay();
    shop.clock.advance(24 * 3_600_000 - 30_000);
    const lost = await shop.pay("/v1/roll", { from: ALICE });
    shop.rail.script.settle = silent;
    expect(await send(lost)).to.equal(503);
    shop.clock.advance(60_000);
    shop.rail.script.find = () => ({ state: "dead" });
    await eventually(async () => (await send(lost)) === 402);
    shop.rail.script = {};
    await shop.store.delete(`pays-first:eip155:8453:${ALICE.toLowerCase()}`);
    expect(await send(await shop.pay("/v1/roll", { from: ALICE }))).to.equal(200);
    expect(await send(await shop.pay("/v1/roll", { from: ALICE }))).to.equal(429);
  });

  it("do not have the price of a call that began the day before, was verified on this one and refused in the end", async () => {
    shop = await openShop({ limits: { per_payer: { usd_per_day: "0.001" } }, counters: COUNTERS });
    beginDay();
    shop.clock.advance(24 * 3_600_000 - 1000);
    const lost = await shop.pay("/v1/roll", { from: ALICE });
    shop.rail.script.verify = () => {
      shop.clock.advance(2000);
      return { isValid: true, payer: ALICE };
    };
    shop.rail.script.settle = silent;
    expect(await send(lost)).to.equal(503);
    shop.rail.script.find = () => ({ state: "dead" });
    await eventually(async () => (await send(lost)) === 402);
    shop.rail.script = {};
    await shop.store.delete(`pays-first:eip155:8453:${ALICE.toLowerCase()}`);
    expect(await send(await shop.pay("/v1/roll", { from: ALICE }))).to.equal(200);
  });

  it("have the price of a payment that was refused, and has moved all the same", async () => {
    shop = await openShop({ limits: { per_payer: { usd_per_day: "0.001" } } });
    beginDay();
    let moveLater = (): unknown => expect.fail("it was not asked to settle");
    shop.rail.script.settle = (payment, offer) => {
      moveLater = () => move(shop.rail, payment, offer);
      return { success: false, errorReason: "insufficient_funds", transaction: "", network: offer.network };
    };
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(402);
    delete shop.rail.script.settle;
    moveLater();
    await shop.restart(); // Looks at once.
    await eventually(() => shop.store.events?.size === 1);
    await shop.store.delete(`pays-first:eip155:8453:0x${"1".repeat(40)}`);
    const next = await shop.buy("/v1/roll", ROLL);
    expect([next.status, ((await next.json()) as { code?: string }).code]).to.deep.equal([429, "rate-limited"]);
  });
});
