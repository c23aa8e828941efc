import { expect } from "chai";
import { nonceOf } from "../../support/chains/scripted-rail.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";

describe("a paid request", () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());

  describe("with the same payment again", () => {
    it("gets the same answer when defaults are written out or keys change places", async () => {
      const payment = await shop.pay("/v1/roll");
      await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      const second = await shop.retry("/v1/roll", { count: 1, high: 6, low: 1 }, payment);
      expect(second.status).to.equal(200);
      expect(shop.executions).to.equal(1);
    });

    it("is refused with 409 for another input", async () => {
      const payment = await shop.pay("/v1/roll");
      await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      const other = await shop.retry("/v1/roll", { low: 1, high: 100 }, payment);
      expect(other.status).to.equal(409);
      const { code, detail } = (await other.json()) as { code: string; detail: string };
      expect(code).to.equal("payment-conflict");
      expect(detail).to.match(/nothing was charged for this one\. Sign a new payment/);
      expect(shop.executions).to.equal(1);
    });

    it("is refused to someone who copied the authorization but not the signature", async () => {
      const payment = await shop.pay("/v1/roll", { nonce: 7 });
      await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      const forged = await shop.pay("/v1/roll", { nonce: 7, signature: `0x${"99".repeat(65)}` });
      const response = await shop.retry("/v1/roll", ROLL, forged);
      expect(response.status).to.equal(409);
    });

    it("gets its stored answer after the authorization and its offer have run out", async () => {
      const payment = await shop.pay("/v1/roll");
      const first = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      await first.json();
      shop.clock.advance(14 * 60_000);
      const second = await shop.retry("/v1/roll", ROLL, payment);
      expect(second.status).to.equal(200);
      expect(shop.executions).to.equal(1);
    });
  });

  describe("in two processes that share a store", () => {
    it("gets its answer also where the service has another id, as while processes are replaced one after another", async () => {
      const identifier = "the-same-purchase";
      const payment = await shop.pay("/v1/roll", { identifier });
      const answer = await (await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).json();
      const { store, rail, clock, url: baseUrl } = shop;
      const twin = await openShop({ store, rail, clock, baseUrl, rollId: "dice" });
      try {
        const named = await twin.pay("/v1/roll", { identifier, nonce: 77 });
        for (const one of [payment, named]) {
          const again = await twin.retry("/v1/roll", ROLL, one);
          expect([again.status, await again.json()]).to.deep.equal([200, answer]);
        }
        expect((await twin.retry("/v1/roll", { low: 1, high: 100 }, payment)).status, "another input").to.equal(409);
        expect((await twin.retry("/v1/echo", ROLL, payment)).status, "another route").to.equal(409);
        expect([twin.executions, rail.asked.settle]).to.deep.equal([0, 1]);
      } finally {
        await twin.close();
      }
    });

    it("is settled once even when a lease lapses under a stalled process", async () => {
      const payment = await shop.pay("/v1/roll");
      const twin = await openShop({ store: shop.store, rail: shop.rail, clock: shop.clock, baseUrl: shop.url });
      try {
        const started = Promise.withResolvers<void>();
        const proceed = Promise.withResolvers<void>();
        shop.handler = async () => {
          started.resolve();
          await proceed.promise;
          return { value: 1, executions: 1 };
        };
        const stalled = shop.post("/v1/roll", ROLL, { "payment-signature": payment });
        await started.promise;
        for (const key of [...shop.store.entries.keys()]) if (key.startsWith("lease:")) await shop.store.delete(key);
        expect((await twin.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(200);
        proceed.resolve();
        expect((await stalled).status).to.be.oneOf([200, 409]);
        expect(shop.rail.asked.settle).to.equal(1);
        expect(nonceOf(JSON.parse(Buffer.from(payment, "base64").toString()))).to.equal([...shop.rail.moved.keys()][0]);
      } finally {
        await twin.close();
      }
    });
  });
});
