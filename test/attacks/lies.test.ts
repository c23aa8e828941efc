import { expect } from "chai";
import { createReservations } from "../../runtime/core/payments/reservations.ts";
import { move, nonceOf } from "../support/chains/scripted-rail.ts";
import { eventually } from "../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";

const TRANSACTION = `0x${"fe".repeat(32)}`;

/** Everything that waits for a chain or a facilitator does so briefly. */
const patience = { silenceMs: 20, confirmMs: 100, confirmAfterMs: 10, claimMs: 0 };

/** Answers are kept for a quarter of an hour. */
const LONG_MS = 20 * 60_000;

describe("a facilitator", () => {
  let shop: Shop;
  afterEach(() => shop.close());
  const codeOf = async (response: Response): Promise<string> => ((await response.json()) as { code: string }).code;

  describe("that reports settlements which its chain does not show", () => {
    /** The nonce of the last such settlement. */
    let reported = "";
    const lie = (): void => {
      shop.rail.script.settle = (payment, { network }) => {
        reported = nonceOf(payment);
        return { success: true, transaction: TRANSACTION, network };
      };
    };

    it("loses its rail after one cheap call, also for challenges that were made before, and after a restart", async () => {
      shop = await openShop({ patience });
      lie();
      const waiting = await shop.pay("/v1/roll");
      expect((await shop.buy("/v1/roll", ROLL)).status, "a cheap answer does not wait for the chain").to.equal(200);
      await eventually(async () => (await shop.post("/v1/roll", {})).status === 503);
      const { executions } = shop;
      const refused = await shop.post("/v1/roll", ROLL, { "payment-signature": waiting });
      expect([refused.status, await codeOf(refused)]).to.deep.equal([503, "facilitator-unavailable"]);
      expect(shop.executions).to.equal(executions);
      await shop.restart();
      expect((await shop.post("/v1/roll", {})).status).to.equal(503);
    });

    it("has its rail back once the chain shows the transfer: its node was behind", async () => {
      shop = await openShop({ patience });
      lie();
      await shop.buy("/v1/roll", ROLL);
      await eventually(async () => (await shop.post("/v1/roll", {})).status === 503);
      expect(shop.rail.asked.settle, "not asked to settle it again").to.equal(1);
      shop.rail.moved.set(reported, TRANSACTION);
      await eventually(async () => (await shop.post("/v1/roll", {})).status === 402);
    });

    it("keeps a sale whose transaction it has replaced, also when another process doubts it, by a node that is behind", async () => {
      shop = await openShop({ patience });
      const { rail, store, clock } = shop;
      rail.script.settle = (payment, offer) => ({ ...move(rail, payment, offer), transaction: TRANSACTION });
      await shop.buy("/v1/roll", ROLL);
      const kinds = () => [...(store.events?.values() ?? [])].map(({ kind }) => kind);
      const keys = (prefix: string) => [...store.entries.keys()].filter((key) => key.startsWith(prefix));
      await eventually(() => kinds().length === 3 && keys("open:").length === 0);
      const other = createReservations({ store, clock, onError: () => {} });
      await other.correctSale(keys("payment:")[0]!.slice("payment:".length), "reversal");
      other.close();
      await shop.restart(); // Looks at once.
      await eventually(() => keys("open:").length === 0);
      expect(kinds()).to.deep.equal(["sale", "reversal", "restoration", "reversal", "restoration"]);
    });

    it("is found out and has its rail back also when its node was away or behind for longer than answers are kept", async () => {
      shop = await openShop({ patience });
      let looks = 0;
      lie();
      shop.rail.script.find = () => {
        looks += 1;
        throw new Error("the node is away");
      };
      await shop.buy("/v1/roll", ROLL);
      await eventually(() => looks >= 1);
      await shop.restart(); // Looks at once.
      await eventually(() => looks >= 2);
      shop.clock.advance(LONG_MS);
      delete shop.rail.script.find;
      await shop.restart();
      await eventually(async () => (await shop.post("/v1/roll", {})).status === 503);
      shop.clock.advance(LONG_MS);
      shop.rail.moved.set(reported, TRANSACTION);
      await shop.restart();
      await eventually(async () => (await shop.post("/v1/roll", {})).status === 402);
    });

    it("has its rail back also where another process finds the transfer of an answer that waited for it", async () => {
      shop = await openShop({ patience, price: "1" });
      lie();
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(503);
      await eventually(async () => (await shop.post("/v1/roll", {})).status === 503);
      shop.rail.moved.set(reported, TRANSACTION);
      await shop.restart();
      await eventually(async () => (await shop.post("/v1/roll", {})).status === 402);
    });

    it("has its rail back also where another process delivers that answer before it hears of the lie", async () => {
      shop = await openShop({ patience, price: "1" });
      const { rail, store, clock } = shop;
      const other = await openShop({ patience, price: "1", rail, store, clock, baseUrl: shop.url });
      lie();
      const payment = await shop.pay("/v1/roll");
      expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(503);
      await eventually(async () => (await shop.post("/v1/roll", {})).status === 503);
      rail.moved.set(reported, TRANSACTION);
      expect((await other.retry("/v1/roll", ROLL, payment)).status).to.equal(200);
      await eventually(async () => (await shop.post("/v1/roll", {})).status === 402);
      await other.close();
    });

    it("is told from one whose chain cannot be read", async () => {
      shop = await openShop({ patience });
      lie();
      let looks = 0;
      shop.rail.script.find = () => {
        looks += 1;
        throw new Error("the node is away");
      };
      await shop.buy("/v1/roll", ROLL);
      await eventually(() => looks >= 3);
      expect((await shop.post("/v1/roll", {})).status).to.equal(402);
    });

    it("is told from one whose chain does not show the transfer yet, and cannot be read since", async () => {
      shop = await openShop({ patience: { ...patience, claimMs: 60_000 } });
      lie();
      let looks = 0;
      shop.rail.script.find = () => {
        looks += 1;
        if (looks === 1) return { state: "open" };
        shop.clock.advance(60_000);
        throw new Error("the node is away");
      };
      await shop.buy("/v1/roll", ROLL);
      await eventually(() => looks >= 3);
      expect((await shop.post("/v1/roll", {})).status).to.equal(402);
    });

    it("is waited for where the answer costs a dollar and the chain is a little behind", async () => {
      shop = await openShop({ patience: { ...patience, confirmMs: 20_000 }, price: "1" });
      let looks = 0;
      lie();
      shop.rail.script.find = () => {
        looks += 1;
        return looks < 3 ? { state: "open" } : { state: "settled", transaction: TRANSACTION };
      };
      const answer = await shop.buy("/v1/roll", ROLL);
      expect(answer.status).to.equal(200);
      expect(shop.receipt(answer)).to.include({ success: true, transaction: TRANSACTION });
    });
  });

  it("that refuses and settles all the same is found out, and what was paid for is delivered", async () => {
    shop = await openShop({ patience });
    const payment = await shop.pay("/v1/roll");
    let moveLater = (): unknown => expect.fail("it was not asked to settle");
    shop.rail.script.settle = (given, offer) => {
      moveLater = () => move(shop.rail, given, offer);
      return { success: false, errorReason: "insufficient_funds", transaction: "", network: offer.network };
    };
    expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(402);
    moveLater();
    const settled = async (): Promise<boolean> => {
      const keys = [...shop.store.entries.keys()].filter((key) => key.startsWith("payment:"));
      const records = await Promise.all(keys.map((key) => shop.store.get<{ state: string }>(key)));
      return records.some((record) => record?.state === "settled");
    };
    await eventually(settled);
    const asked = shop.rail.asked.settle;
    const delivered = await shop.retry("/v1/roll", ROLL, payment);
    expect([delivered.status, shop.executions, shop.rail.asked.settle - asked]).to.deep.equal([200, 1, 0]);
  });

  it("that names another transaction than the chain shows is not believed: receipts name the chain's", async () => {
    shop = await openShop({ patience, price: "1" });
    let settled = "";
    shop.rail.script.settle = (payment, offer) => {
      const { transaction, ...receipt } = move(shop.rail, payment, offer);
      settled = transaction;
      return { ...receipt, transaction: TRANSACTION };
    };
    const answer = await shop.buy("/v1/roll", ROLL);
    expect(answer.status).to.equal(200);
    expect(shop.receipt(answer)).to.include({ success: true, transaction: settled });
  });

  it("that names another payer is not believed: receipts name who has signed", async () => {
    shop = await openShop({ patience });
    const payer = `0x${"3".repeat(40)}`;
    shop.rail.script.verify = () => ({ isValid: true, payer });
    shop.rail.script.settle = (payment, offer) => ({ ...move(shop.rail, payment, offer), payer });
    const answer = await shop.buy("/v1/roll", ROLL);
    expect(shop.receipt(answer)).to.include({ success: true, payer: `0x${"1".repeat(40)}` });
  });

  it("that settles and keeps silent is not waited for: the chain shows the transfer", async () => {
    shop = await openShop({ patience });
    shop.rail.script.settle = (payment, offer) => {
      move(shop.rail, payment, offer);
      return new Promise(() => {});
    };
    const answer = await shop.buy("/v1/roll", ROLL);
    expect(answer.status).to.equal(200);
    expect(shop.receipt(answer)).to.include({ success: true, network: "eip155:8453" });
  });
});
