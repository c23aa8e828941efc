import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { PaymentRequired, PaymentRequirements } from "../../../runtime/core/x402/x402.ts";
import { createScriptedRail, isAway, refuses } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

describe("a paid request", () => {
  let shop: Shop;
  afterEach(() => shop.close());

  describe("while no rail is up", () => {
    it("is never free: 503, until the facilitator is there, and then recovers by itself", async () => {
      const rail = createScriptedRail();
      rail.script.supported = isAway;
      shop = await openShop({ rail });
      const down = await fetch(`${shop.url}/v1/roll`, { method: "POST" });
      expect(down.status).to.equal(503);
      delete rail.script.supported;
      await eventually(async () => (await fetch(`${shop.url}/v1/roll`, { method: "POST" })).status === 402);
      expect(shop.executions).to.equal(0);
    });
  });

  describe("while the chain cannot be read", () => {
    const noAnswer = (): never => {
      throw new Problem("upstream-failed", "The Base chain could not be asked");
    };
    for (const [path, price, what] of [
      ["/v1/echo", "0.001", "whose work begins once the chain shows the payment"],
      ["/v1/roll", "1", "whose answer waits until the chain shows the payment"],
    ] as const)
      it(`${what}, is 503, runs nothing and charges nobody`, async () => {
        shop = await openShop({ price });
        const payment = await shop.pay(path);
        Object.assign(shop.rail.script, { find: noAnswer, ping: noAnswer });
        const response = await shop.post(path, ROLL, { "payment-signature": payment });
        expect(response.status).to.equal(503);
        expect(response.headers.get("retry-after")).to.match(/^\d+$/);
        expect(await response.json()).to.have.property("code", "unavailable");
        expect(shop.executions).to.equal(0);
        expect(shop.rail.asked.settle).to.equal(0);
        shop.rail.script = {};
        expect((await shop.retry(path, ROLL, payment)).status, "the payment is still good").to.equal(200);
      });

    it("is sold on the facilitator's word where the answer does not wait for the chain", async () => {
      shop = await openShop();
      Object.assign(shop.rail.script, { find: noAnswer, ping: noAnswer });
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
    });
  });

  describe("while the node of another network does not answer", () => {
    it("is settled in the background all the same, however many payments are open there", async () => {
      const other = createScriptedRail({ id: "other", network: "eip155:137" });
      shop = await openShop({ others: [other] });
      const { accepts } = (await (await shop.post("/v1/roll", ROLL)).json()) as PaymentRequired;
      const change = (): PaymentRequirements => accepts[1] as PaymentRequirements;
      const payments = await Promise.all(Array.from({ length: 16 }, () => shop.pay("/v1/roll", { change })));
      for (const rail of [shop.rail, other]) rail.script.settle = isAway;
      const all = [...payments, await shop.pay("/v1/roll")];
      const send = (payment: string) => shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      expect(new Set((await Promise.all(all.map(send))).map(({ status }) => status))).to.deep.equal(new Set([503]));
      other.script.find = () => new Promise(() => {});
      delete shop.rail.script.settle;
      await shop.restart();
      await eventually(() => shop.rail.moved.size === 1);
    });
  });

  describe("while a handler does not say whether it is ready", () => {
    it("ends at the deadline, charges nobody and frees the payment", async () => {
      shop = await openShop({ deadlineSeconds: 2, ready: () => new Promise(() => {}) });
      const payment = await shop.pay("/v1/echo");
      const send = (): Promise<Response> => shop.post("/v1/echo", ROLL, { "payment-signature": payment });
      const [first, meanwhile] = await Promise.all([send(), send()]);
      expect([first.status, meanwhile.status].sort()).to.deep.equal([409, 504]);
      expect((await send()).status, "not 409: the lease is over").to.equal(504);
      expect(shop.rail.asked.settle).to.equal(0);
    });
  });

  describe("for work that cannot be done now", () => {
    it("is not settled again when it was refused before, and stays good", async () => {
      let hasGas = true;
      const ready = (): void => {
        if (!hasGas) throw new Problem("unavailable", "The treasury has no gas");
      };
      shop = await openShop({ ready });
      shop.rail.script.settle = refuses();
      const payment = await shop.pay("/v1/echo");
      expect((await shop.retry("/v1/echo", ROLL, payment)).status).to.equal(402);
      shop.rail.script = {};
      hasGas = false;
      const early = await shop.retry("/v1/echo", ROLL, payment);
      expect([early.status, shop.rail.moved.size]).to.deep.equal([503, 0]);
      expect(await early.json()).to.have.property("detail", "The treasury has no gas");
      hasGas = true;
      expect((await shop.retry("/v1/echo", ROLL, payment)).status).to.equal(200);
      expect([shop.executions, shop.rail.moved.size]).to.deep.equal([1, 1]);
    });
  });

  describe("when the store fails", () => {
    /** Buys what is paid first, while the store cannot read some keys. @returns the payment, which is known to be settled */
    async function buyWithout(prefix: string, handler?: Shop["handler"]): Promise<string> {
      const store = createMemoryStore();
      shop = await openShop({ store });
      shop.handler = handler;
      const payment = await shop.pay("/v1/echo");
      const { get } = store;
      store.get = (key) =>
        key.startsWith(prefix) ? Promise.reject(new Problem("unavailable", "The store is gone")) : get(key);
      const response = await shop.post("/v1/echo", ROLL, { "payment-signature": payment });
      expect(response.status).to.equal(502);
      expect(await response.json()).to.have.property("code", "paid-not-delivered");
      expect(response.headers.get("retry-after")).to.match(/^\d+$/);
      expect(shop.receipt(response)).to.have.property("success", true);
      store.get = get;
      return payment;
    }

    it("tells whoever has paid first so, with the receipt, when it fails after the settlement", async () => {
      const payment = await buyWithout("owed-end:");
      expect((await shop.retry("/v1/echo", ROLL, payment)).status).to.equal(200);
      expect(shop.rail.asked.settle).to.equal(1);
    });

    it("tells whoever is paid back so, with the receipt, when the refund cannot be read", async () => {
      const payment = await buyWithout("refund", () =>
        Promise.reject(new Problem("not-found", "It fell off the table")),
      );
      const again = await shop.retry("/v1/echo", ROLL, payment);
      expect(await again.json()).to.include({ code: "paid-not-delivered", refund_pending: "manual" });
      expect(shop.rail.asked.settle).to.equal(1);
    });

    it("still answers whoever has paid when only the last note of it fails, and once only", async () => {
      const store = createMemoryStore();
      shop = await openShop({ store });
      const payment = await shop.pay("/v1/roll");
      const { enter } = store;
      store.enter = () => Promise.reject(new Problem("unavailable"));
      expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(200);
      store.enter = enter;
      const again = await shop.retry("/v1/roll", ROLL, payment);
      expect(await again.json()).to.deep.equal({ value: 1, executions: 1 });
      expect(shop.rail.moved.size).to.equal(1);
      expect(
        [...(store.events?.values() ?? [])].map(({ kind }) => kind),
        "the sale",
      ).to.deep.equal(["sale"]);
    });
  });
});
