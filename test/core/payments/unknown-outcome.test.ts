import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { move, refuses } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";

describe("a paid request", () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());

  describe("when the outcome of the settlement is unknown", () => {
    const timesOut = (): never => {
      throw new Problem("facilitator-unavailable", "The facilitator did not answer to settle");
    };

    it("is delivered at once when the chain shows that the money has moved", async () => {
      shop.rail.script.settle = (payment, offer) => {
        move(shop.rail, payment, offer);
        return timesOut();
      };
      const response = await shop.buy("/v1/roll", ROLL);
      expect(response.status).to.equal(200);
      expect(shop.receipt(response))
        .to.have.property("transaction")
        .that.matches(/^0x0+1$/);
    });

    it("is delivered to the same payment later, with one run and one charge", async () => {
      const payment = await shop.pay("/v1/roll");
      shop.rail.script.settle = timesOut;
      expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(503);
      delete shop.rail.script.settle;
      const again = await shop.retry("/v1/roll", ROLL, payment);
      expect(again.status).to.equal(200);
      expect(shop.executions).to.equal(1);
      expect(shop.rail.moved.size).to.equal(1);
    });

    it("is taken up after a restart by the reconciler", async () => {
      shop.rail.script.settle = timesOut;
      await shop.buy("/v1/roll", ROLL);
      await shop.restart();
      delete shop.rail.script.settle;
      await eventually(() => shop.rail.moved.size === 1);
    });

    it("stays open while the store cannot take it as settled, although it can strike it out", async () => {
      shop.rail.script.settle = timesOut;
      await shop.buy("/v1/roll", ROLL);
      const { enter } = shop.store;
      const refused = Promise.withResolvers<void>();
      shop.store.enter = async () => {
        refused.resolve();
        throw new Problem("unavailable", "The store is full");
      };
      delete shop.rail.script.settle;
      await refused.promise;
      await shop.restart();
      shop.store.enter = enter;
      await shop.restart();
      await eventually(() => shop.store.events?.size === 1);
    });

    it("is a warning in /ready once none was settled for a minute, until one is", async () => {
      shop.rail.script.settle = timesOut;
      const payment = await shop.pay("/v1/roll");
      const warnings = async (): Promise<unknown> => {
        await shop.retry("/v1/roll", ROLL, payment);
        const report = (await (await fetch(`${shop.url}/ready`)).json()) as { warnings: readonly string[] };
        return report.warnings;
      };
      for (let attempt = 0; attempt < 3; attempt += 1) expect(await warnings()).to.deep.equal([]);
      shop.clock.advance(60_000);
      expect(await warnings()).to.match(/^Payments on the rail \w+ are verified, and none has been settled since /);
      delete shop.rail.script.settle;
      expect(await warnings()).to.deep.equal([]);
    });

    it("ends as refused, and never as charged, when the chain says that the authorization is dead", async () => {
      const payment = await shop.pay("/v1/roll");
      shop.rail.script.settle = timesOut;
      await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      shop.rail.script.find = () => ({ state: "dead" });
      const again = await shop.retry("/v1/roll", ROLL, payment);
      expect(again.status).to.equal(402);
      const why = "invalid_transaction_state: The chain shows that this payment was not made; sign a new one";
      expect(await again.json()).to.have.property("error", `payment_rejected: ${why}`);
      expect(shop.receipt(again)).to.deep.include({ success: false, errorReason: "invalid_transaction_state" });
      expect(shop.rail.moved.size).to.equal(0);
    });

    it("keeps the facilitator's reason when that tells why the chain says so", async () => {
      shop.rail.script.settle = refuses("authorization_already_used");
      shop.rail.script.find = () => ({ state: "dead" });
      const answer = await shop.buy("/v1/roll", ROLL);
      expect(answer.status).to.equal(402);
      expect(shop.receipt(answer)).to.deep.include({ success: false, errorReason: "authorization_already_used" });
    });

    it("makes its payer pay first when it ends as refused after the work has run", async () => {
      const { script, manifest } = shop.rail;
      const reverted = { success: false, errorReason: "failed", transaction: `0x${"7".repeat(64)}` };
      script.settle = () => ({ ...reverted, network: manifest.network });
      const payment = await shop.pay("/v1/roll");
      expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(503);
      script.find = () => ({ state: "dead" });
      expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(402);
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(402);
      expect(shop.executions, "the second payment was refused before any work").to.equal(1);
    });

    it("makes nobody pay first when it ends as refused before any work has run", async () => {
      shop.rail.script.settle = timesOut;
      const payment = await shop.pay("/v1/echo");
      expect((await shop.post("/v1/echo", ROLL, { "payment-signature": payment })).status).to.equal(503);
      shop.rail.script.find = () => ({ state: "dead" });
      expect((await shop.retry("/v1/echo", ROLL, payment)).status).to.equal(402);
      expect([...shop.store.entries.keys()].filter((key) => key.startsWith("pays-first:"))).to.deep.equal([]);
      expect(shop.executions).to.equal(0);
    });

    it("is called unknown where a refused payment may have been opened again, since it may be settled afterwards", async () => {
      shop.rail.script.settle = refuses();
      const payment = await shop.pay("/v1/roll");
      expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(402);
      delete shop.rail.script.settle;
      const { set } = shop.store;
      shop.store.set = async (key, value, ...rest) => {
        await set(key, value, ...rest);
        if ((value as { state?: string }).state === "settling") throw new Problem("unavailable", "The disk is full");
      };
      const again = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      expect(await again.json()).to.include({ code: "settlement-unknown" });
      expect(shop.rail.asked.settle, "before it is on record").to.equal(1);
      shop.store.set = set;
      await eventually(() => shop.rail.moved.size === 1);
      expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(200);
    });

    it("is in the book when it moves after a refusal, also when the chain could not be read for an hour", async () => {
      const { script } = shop.rail;
      script.settle = refuses();
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(402);
      script.find = () => Promise.reject(new Error("the node is away"));
      await shop.restart();
      shop.clock.advance(60 * 60_000);
      script.find = () => ({ state: "settled", transaction: `0x${"5".repeat(64)}` });
      await shop.restart();
      await eventually(() => [...(shop.store.events?.values() ?? [])].some(({ kind }) => kind === "sale"));
    });

    it("takes an authorization that somebody else brought to the chain as what it is: paid", async () => {
      shop.rail.script.settle = (payment, offer) => {
        move(shop.rail, payment, offer);
        return {
          success: false,
          errorReason: "invalid_exact_evm_nonce_already_used",
          transaction: "",
          network: offer.network,
        };
      };
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
    });
  });
});
