import { expect } from "chai";
import { createFacilitatorTrust } from "../../../../runtime/core/payments/trust.ts";
import { silentLog } from "../../../../runtime/core/silent-log.ts";
import { createScriptedRail, nonceOf, refuses } from "../../../support/chains/scripted-rail.ts";
import { createPolygonRail } from "../../../support/sellers/dice.ts";
import { openShop, ROLL, type Shop, type ShopOptions } from "../../../support/sellers/shop.ts";
import { createMemoryStore } from "../../../support/store/memory-store.ts";
import { createTestClock } from "../../../support/test-clock.ts";

const IDENTIFIER = "pay_00000000000000000001";
const MINUTE = 60_000;

describe("what an identifier stands for", () => {
  const opened: Shop[] = [];
  let shop: Shop;
  const open = async (options: ShopOptions): Promise<Shop> => {
    shop = await openShop(options);
    opened.push(shop);
    return shop;
  };
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });

  const buy = async (nonce: number, at = shop, more: { readonly validForSeconds?: number } = {}): Promise<Response> => {
    const payment = await at.pay("/v1/roll", { identifier: IDENTIFIER, nonce, ...more });
    return at.post("/v1/roll", ROLL, { "payment-signature": payment });
  };
  /** Buys in a process that dies when the identifier is on record, and its payment is not. */
  const buyAndCrash = async (nonce: number, validForSeconds = 300): Promise<void> => {
    const { putIfAbsent } = shop.store;
    shop.store.putIfAbsent = async (key, ...rest) => {
      if (key.startsWith("payment:")) throw new Error("the process is gone");
      return putIfAbsent(key, ...rest);
    };
    shop.rail.script.find = () => ({ state: "open" });
    shop.rail.script.settle = () => expect.fail("it was settled without a record");
    expect((await buy(nonce, shop, { validForSeconds })).status).to.equal(503);
    Object.assign(shop.store, { putIfAbsent });
    shop.rail.script = {};
    for (const key of shop.store.entries.keys()) if (key.startsWith("open:")) await shop.store.delete(key);
    await shop.restart();
  };
  /** The chain shows that the first payment can never be made. */
  const showDead = (): void => {
    shop.rail.script.find = (payment) => ({ state: BigInt(nonceOf(payment)) === 1n ? "dead" : "open" });
  };

  it("is one payment, also where two processes believe that they hold it", async () => {
    const [rail, store] = [createScriptedRail(), createMemoryStore()];
    const { putIfAbsent } = store;
    store.putIfAbsent = async (key, ...rest) => key.startsWith("lease:named:") || putIfAbsent(key, ...rest);
    const both = [await open({ rail, store }), await open({ rail, store })] as const;
    const [working, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let atWork = 0;
    for (const one of both)
      one.handler = async () => {
        atWork += 1;
        if (atWork === both.length) working.resolve();
        await mayEnd.promise;
        return { value: 1 };
      };
    const answers = both.map((one, at) => buy(at + 1, one));
    await working.promise;
    mayEnd.resolve();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.sort()).to.deep.equal([200, 409]);
    expect((await buy(3)).status).to.equal(200);
    expect(rail.moved.size).to.equal(1);
  });

  it("is another payment once the one that it stood for has expired before it was on record", async () => {
    await open({});
    await buyAndCrash(1);
    shop.clock.advance(10 * MINUTE);
    showDead();
    expect((await buy(2)).status).to.equal(200);
    shop.clock.advance(10 * MINUTE);
    expect((await buy(3)).status, "its answer").to.equal(200);
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is another payment then for as long as the answer would have been kept", async () => {
    await open({ limits: { answers_minutes: 1440 } });
    await buyAndCrash(1);
    shop.clock.advance(20 * MINUTE);
    showDead();
    expect((await buy(2)).status).to.equal(200);
    expect((await buy(3)).status).to.equal(200);
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is the payment of a crash while that is valid, however long, and no other, and the answer is noted under its sale", async () => {
    const [noted, sold]: [string[], string[]] = [[], []];
    const silent = { count: () => {}, end: () => {}, note: () => {} };
    const answers = { note: (sale: string) => void noted.push(sale) };
    const { store } = await open({
      counters: { tallies: silent, refusals: silent, answers, inCall: (_, call) => call() },
    });
    const { enter } = store;
    store.enter = (event, entry) => {
      if (event.kind === "sale") sold.push(event.id);
      return enter(event, entry);
    };
    await buyAndCrash(1, 3600);
    shop.clock.advance(20 * MINUTE);
    expect((await buy(2)).status).to.equal(200);
    expect((await buy(3)).status).to.equal(200);
    expect(shop.rail.moved.size).to.equal(1);
    expect([...shop.rail.moved.keys()].map(BigInt)).to.deep.equal([1n]);
    expect(noted).to.deep.equal([...sold, ...sold]);
  });

  it("is not bought with the payment of a crash whose facilitator is not trusted any more, and is by one on another rail once the chain shows that it was not made", async () => {
    const [rail, other] = [createScriptedRail(), createPolygonRail()];
    for (const { script } of [rail, other]) script.provePayer = async () => "key";
    const [store, clock] = [createMemoryStore(), createTestClock()];
    const site = { rails: [rail.manifest, other.manifest] };
    const trust = createFacilitatorTrust({ site, store, clock, log: silentLog });
    await open({ rail, others: [other], store, clock, trust });
    await buyAndCrash(1);
    const { facilitator, network } = rail.manifest;
    const claim = { facilitator: String(facilitator), network, payment: "another", transaction: "0xfe", claimedAt: 0 };
    trust.withdraw(claim);
    const asked = { ...rail.asked };
    expect((await buy(2)).status).to.equal(503);
    expect([rail.asked.verify, rail.asked.settle]).to.deep.equal([asked.verify, asked.settle]);
    showDead();
    expect((await buy(3)).status).to.equal(200);
    expect([rail.moved.size, other.moved.size]).to.deep.equal([0, 1]);
  });

  it("has no work done for a payment of a crash that is not taken any more, and takes the next one once the chain shows that", async () => {
    await open({});
    await buyAndCrash(1);
    shop.rail.script.verify = (payment) => ({ isValid: BigInt(nonceOf(payment)) !== 1n, invalidReason: "blockhash" });
    const waiting = await buy(2);
    expect([waiting.status, waiting.headers.get("retry-after")]).to.deep.equal([503, "10"]);
    expect(((await waiting.json()) as { detail: string }).detail).to.match(/nothing was charged/);
    expect(shop.executions).to.equal(0);
    showDead();
    expect((await buy(2)).status).to.equal(200);
    expect([...shop.rail.moved.keys()].map(BigInt)).to.deep.equal([2n]);
  });

  it("has no work done for a payment of a crash that could expire during the work", async () => {
    await open({});
    await buyAndCrash(1);
    shop.clock.advance(290_000);
    expect([(await buy(2)).status, shop.executions]).to.deep.equal([503, 0]);
    shop.clock.advance(30_000);
    showDead();
    expect((await buy(2)).status).to.equal(200);
    expect([...shop.rail.moved.keys()].map(BigInt)).to.deep.equal([2n]);
  });

  it("is the payment of a crash that was made all the same, though no facilitator takes it again", async () => {
    await open({});
    await buyAndCrash(1);
    shop.rail.script.verify = (payment) => ({ isValid: BigInt(nonceOf(payment)) !== 1n, invalidReason: "nonce" });
    const transaction = `0x${"fe".repeat(32)}`;
    shop.rail.moved.set(`0x${"1".padStart(64, "0")}`, transaction);
    const bought = await buy(2);
    expect([bought.status, shop.receipt(bought).transaction]).to.deep.equal([200, transaction]);
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is another payment long after a crash, once the chain shows that its own was not made", async () => {
    await open({});
    await buyAndCrash(1);
    shop.clock.advance(60 * MINUTE);
    expect((await buy(2)).status, "the chain does not say").to.equal(503);
    showDead();
    expect((await buy(3)).status).to.equal(200);
    expect([...shop.rail.moved.keys()].map(BigInt)).to.deep.equal([3n]);
  });

  /** Buys with a payment that is refused, and that the chain shows as dead soon. */
  const buyInVain = async (nonce: number): Promise<void> => {
    shop.rail.script.settle = refuses();
    shop.rail.script.find = () => ({ state: "dead" });
    expect((await buy(nonce)).status).to.equal(402);
    shop.rail.script = {};
  };

  it("is free for another payment for as long as it is remembered, where the chain has shown that its own was not made", async () => {
    await open({});
    await buyInVain(1);
    shop.clock.advance(20 * MINUTE);
    expect((await buy(2)).status).to.equal(200);
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is the payment that was made, also long after the one before it was shown not to be made", async () => {
    await open({ limits: { answers_minutes: 1440 } });
    await buyInVain(1);
    shop.clock.advance(23 * 60 * MINUTE);
    const bought = await (await buy(2)).json();
    for (const minutes of [20, 60, 20 * 60]) {
      shop.clock.advance(minutes * MINUTE);
      const again = await buy(minutes);
      expect([again.status, await again.json()]).to.deep.equal([200, bought]);
    }
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is the payment that was made a day longer than that one could be settled, whatever it is asked with", async () => {
    await open({});
    await buyInVain(1);
    shop.clock.advance(20 * MINUTE);
    expect((await buy(2, shop, { validForSeconds: 23 * 3600 })).status).to.equal(200);
    expect((await buy(3)).status).to.equal(200);
    for (const [nonce, hours] of [
      [4, 30],
      [5, 15],
    ] as const) {
      shop.clock.advance(hours * 60 * MINUTE);
      expect((await buy(nonce)).status, `after ${hours} hours more, its answer is not kept`).to.equal(409);
    }
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is not bought again where answers are kept longer since", async () => {
    const limits: { answers_minutes?: number } = {};
    await open({ limits });
    expect((await buy(1)).status).to.equal(200);
    shop.clock.advance(20 * MINUTE);
    limits.answers_minutes = 1440;
    await shop.restart();
    const late = await buy(2);
    expect([late.status, ((await late.json()) as { code: string }).code]).to.deep.equal([409, "payment-conflict"]);
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is not bought again by a process whose clock is slow, which believes that its answer would still be kept", async () => {
    const { rail, store, clock } = await open({});
    expect((await buy(1)).status).to.equal(200);
    clock.advance(17 * MINUTE);
    const slow = { now: () => clock.now() - 4 * MINUTE, advance: clock.advance };
    const other = await open({ rail, store, clock: slow, baseUrl: opened[0]?.url ?? "" });
    const late = await buy(2, other);
    expect([late.status, ((await late.json()) as { code: string }).code]).to.deep.equal([409, "payment-conflict"]);
    expect(rail.moved.size).to.equal(1);
  });
});
