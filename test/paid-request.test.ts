import { expect } from "chai";
import { Problem } from "../runtime/api/problem.ts";
import { createMemoryStore } from "./support/memory-store.ts";
import { createScriptedRail, move, nonceOf } from "./support/scripted-rail.ts";
import { openShop, type Shop } from "./support/shop.ts";

const ROLL = { low: 1, high: 6 };

describe("a paid request", () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());

  describe("without a payment", () => {
    it("is challenged whatever its body looks like, and nothing is run or read", async () => {
      for (const body of ["", "{", '{"low":"x"}', "[]", JSON.stringify(ROLL)]) {
        const response = await fetch(`${shop.url}/v1/roll`, { method: "POST", body });
        expect(response.status, body).to.equal(402);
        expect(response.headers.get("cache-control")).to.equal("no-store");
      }
      expect(shop.executions).to.equal(0);
      expect(shop.rail.asked.verify).to.equal(0);
    });

    it("is challenged twice, identically: in the body and in the PAYMENT-REQUIRED header", async () => {
      const response = await fetch(`${shop.url}/v1/roll`, { method: "POST" });
      const header = Buffer.from(response.headers.get("payment-required") ?? "", "base64").toString();
      expect(await response.text()).to.equal(header);
      expect(JSON.parse(header)).to.deep.include({ x402Version: 2, error: "Payment required" });
    });

    it("gets the deprecated V1 challenge on ?x402Version=1", async () => {
      const response = await fetch(`${shop.url}/v1/roll?x402Version=1`, { method: "POST" });
      expect(response.status).to.equal(402);
      const body = (await response.json()) as { x402Version: number; accepts: Record<string, unknown>[] };
      expect(body.x402Version).to.equal(1);
      expect(body.accepts[0]).to.include({
        network: "base",
        maxAmountRequired: "1000",
        resource: `${shop.url}/v1/roll`,
      });
    });
  });

  describe("with a payment that cannot be taken", () => {
    const refused = async (payment: string, error: string): Promise<void> => {
      const response = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      expect(response.status).to.equal(402);
      expect(await response.json()).to.have.property("error", error);
      expect(shop.rail.asked.verify, "the facilitator is not asked").to.equal(0);
    };

    it("is challenged again when the payment cannot be decoded", () => refused("!!!", "invalid_payload"));

    it("is challenged again when the payment is for another price", async () => {
      const payment = await shop.pay("/v1/roll", { change: (offer) => ({ ...offer, amount: "1" }), value: "1" });
      await refused(payment, "no_matching_offer");
    });

    it("is challenged again when the signed amount is not the offered one", async () => {
      await refused(await shop.pay("/v1/roll", { value: "1" }), "no_matching_offer");
    });

    it("is challenged again when the payment has expired, or is about to", async () => {
      await refused(await shop.pay("/v1/roll", { validForSeconds: 3 }), "payment_expired");
    });

    it("cannot be bought with a payment that was challenged for another route of the same price", async () => {
      const payment = await shop.pay("/v1/echo");
      await refused(payment, "wrong_resource");
    });

    it("cannot be bought by dropping the name of the resource from such a payment", async () => {
      const payment = await shop.pay("/v1/echo", { resource: undefined });
      await refused(payment, "no_matching_offer");
      const bare = await shop.pay("/v1/echo", {
        resource: undefined,
        change: ({ extra, ...offer }) => ({ ...offer, extra: {} }),
      });
      await refused(bare, "wrong_resource");
    });

    it("is challenged again, with the reason, when the facilitator says no", async () => {
      shop.rail.script.verify = () => ({ isValid: false, invalidReason: "invalid_exact_evm_insufficient_balance" });
      const response = await shop.buy("/v1/roll", ROLL);
      expect(response.status).to.equal(402);
      expect(await response.json()).to.have.property(
        "error",
        "insufficient_funds: invalid_exact_evm_insufficient_balance",
      );
      expect(shop.executions).to.equal(0);
    });
  });

  it("is answered and receipted once it is paid", async () => {
    const response = await shop.buy("/v1/roll", ROLL);
    expect(response.status).to.equal(200);
    expect(await response.json()).to.deep.equal({ value: 1, executions: 1 });
    expect(shop.receipt(response)).to.deep.include({ success: true, network: "eip155:8453" });
    expect(response.headers.get("cache-control")).to.match(/private/);
    expect(shop.rail.asked).to.include({ verify: 1, settle: 1 });
  });

  it("is not charged for an input that is refused, and the facilitator is not asked", async () => {
    const payment = await shop.pay("/v1/roll");
    const response = await shop.post("/v1/roll", { low: "one" }, { "payment-signature": payment });
    expect(response.status).to.equal(422);
    expect(await response.json())
      .to.have.nested.property("detail[0].loc")
      .that.deep.equals(["body", "low"]);
    expect(shop.rail.asked).to.include({ verify: 0, settle: 0 });
    expect(
      (await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status,
      "the payment is still good",
    ).to.equal(200);
  });

  it("is not charged when the handler's own rules refuse the input", async () => {
    const response = await shop.buy("/v1/roll", { low: 6, high: 1 });
    expect(response.status).to.equal(422);
    expect(shop.rail.asked.verify).to.equal(0);
  });

  it("is not charged when the handler fails, and the same payment can be used again", async () => {
    const payment = await shop.pay("/v1/roll");
    shop.handler = () => {
      throw new Problem("upstream-failed", "The dice fell off the table");
    };
    const failed = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
    expect(failed.status).to.equal(502);
    expect(shop.rail.asked.settle).to.equal(0);
    shop.handler = undefined;
    expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(200);
  });

  it("is not charged when the output breaks its schema, which is told to nobody", async () => {
    shop.handler = () => ({ value: "secret" });
    const response = await shop.buy("/v1/roll", ROLL);
    expect(response.status).to.equal(500);
    expect(await response.text()).not.to.contain("secret");
    expect(shop.rail.asked.settle).to.equal(0);
  });

  it("ends with 504 at its deadline and is not charged", async () => {
    shop.handler = () => new Promise(() => {});
    const response = await shop.buy("/v1/roll", ROLL);
    expect(response.status).to.equal(504);
    expect(shop.rail.asked.settle).to.equal(0);
  });

  it("is not charged when the caller leaves before the settlement", async () => {
    const payment = await shop.pay("/v1/roll");
    const started = Promise.withResolvers<void>();
    shop.handler = (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        started.resolve();
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      });
    const leaving = new AbortController();
    const call = shop.post("/v1/roll", ROLL, { "payment-signature": payment }, leaving.signal).catch(() => "left");
    await started.promise;
    leaving.abort();
    expect(await call).to.equal("left");
    shop.handler = undefined;
    const again = await shop.retry("/v1/roll", ROLL, payment);
    expect(again.status).to.equal(200);
    expect(shop.rail.asked.settle).to.equal(1);
  });

  it("keeps its result for a caller who leaves during the settlement", async () => {
    const payment = await shop.pay("/v1/roll");
    const reached = Promise.withResolvers<void>();
    const proceed = Promise.withResolvers<void>();
    shop.rail.script.settle = async (paid, offer) => {
      reached.resolve();
      await proceed.promise;
      return move(shop.rail, paid, offer);
    };
    const leaving = new AbortController();
    const call = shop.post("/v1/roll", ROLL, { "payment-signature": payment }, leaving.signal).catch(() => "left");
    await reached.promise;
    leaving.abort();
    expect(await call).to.equal("left");
    proceed.resolve();
    const again = await shop.retry("/v1/roll", ROLL, payment);
    expect(await again.json()).to.deep.equal({ value: 1, executions: 1 });
    expect(shop.rail.moved.size).to.equal(1);
  });

  describe("with the same payment again", () => {
    it("gets the same answer, without a second run or a second charge", async () => {
      const payment = await shop.pay("/v1/roll");
      const first = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      const second = await shop.retry("/v1/roll", ROLL, payment);
      expect(await second.json()).to.deep.equal(await first.json());
      expect(shop.receipt(second)).to.deep.equal(shop.receipt(first));
      expect(shop.executions).to.equal(1);
      expect(shop.rail.asked.settle).to.equal(1);
    });

    it("gets the same answer when defaults are written out or keys change places", async () => {
      const payment = await shop.pay("/v1/roll");
      await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      const second = await shop.retry("/v1/roll", { count: 1, high: 6, low: 1 }, payment);
      expect(second.status).to.equal(200);
      expect(shop.executions).to.equal(1);
    });

    it("is executed and settled once, for 200 copies at the same moment", async () => {
      const payment = await shop.pay("/v1/roll");
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => shop.post("/v1/roll", ROLL, { "payment-signature": payment })),
      );
      expect(shop.executions).to.equal(1);
      expect(shop.rail.asked.settle).to.equal(1);
      const statuses = new Set(answers.map(({ status }) => status));
      expect([...statuses].sort()).to.satisfy((seen: number[]) =>
        seen.every((status) => status === 200 || status === 409),
      );
      expect(statuses).to.include(200);
      const conflict = answers.find(({ status }) => status === 409);
      if (conflict) expect(conflict.headers.get("retry-after")).to.match(/^\d+$/);
    });

    it("is refused with 409 for another input", async () => {
      const payment = await shop.pay("/v1/roll");
      await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      const other = await shop.retry("/v1/roll", { low: 1, high: 100 }, payment);
      expect(other.status).to.equal(409);
      expect(await other.json()).to.have.property("code", "payment-conflict");
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

    it("gets the same answer after a restart", async () => {
      const payment = await shop.pay("/v1/roll");
      const first = await (await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).json();
      await shop.restart();
      const second = await shop.retry("/v1/roll", ROLL, payment);
      expect(await second.json()).to.deep.equal(first);
      expect(shop.executions, "since the restart").to.equal(0);
    });
  });

  describe("when the facilitator fails to verify", () => {
    it("answers 503 with Retry-After, runs nothing and charges nobody", async () => {
      shop.rail.script.verify = () => {
        throw new Problem("facilitator-unavailable", undefined, { retryAfter: 5 });
      };
      const response = await shop.buy("/v1/roll", ROLL);
      expect(response.status).to.equal(503);
      expect(response.headers.get("retry-after")).to.equal("5");
      expect(shop.executions).to.equal(0);
      expect(shop.rail.asked.settle).to.equal(0);
    });
  });

  describe("when the settlement fails after the handler", () => {
    it("withholds the result and says why, in a fresh challenge and in PAYMENT-RESPONSE", async () => {
      shop.rail.script.settle = (_payment, { network }) => ({
        success: false,
        errorReason: "insufficient_funds",
        transaction: "",
        network,
      });
      const response = await shop.buy("/v1/roll", ROLL);
      expect(response.status).to.equal(402);
      const body = (await response.json()) as object;
      expect(body).to.have.property("error", "insufficient_funds");
      expect(body).not.to.have.property("value");
      expect(shop.receipt(response)).to.deep.include({ success: false, errorReason: "insufficient_funds" });
    });

    it("delivers the kept result, without a second run, once the same payment can be settled", async () => {
      shop.rail.script.settle = (_payment, { network }) => ({
        success: false,
        errorReason: "insufficient_funds",
        transaction: "",
        network,
      });
      const payment = await shop.pay("/v1/roll");
      await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      delete shop.rail.script.settle;
      const again = await shop.retry("/v1/roll", ROLL, payment);
      expect(await again.json()).to.deep.equal({ value: 1, executions: 1 });
      expect(shop.rail.moved.size).to.equal(1);
    });
  });

  describe("when the outcome of the settlement is unknown", () => {
    const timesOut = (): never => {
      throw new Problem("facilitator-unavailable", "The facilitator did not answer to settle");
    };

    it("is never called unpaid: 503 settlement-unknown with Retry-After, and no fresh challenge", async () => {
      shop.rail.script.settle = timesOut;
      const response = await shop.buy("/v1/roll", ROLL);
      expect(response.status).to.equal(503);
      expect(await response.json()).to.have.property("code", "settlement-unknown");
      expect(response.headers.get("retry-after")).to.match(/^\d+$/);
      expect(response.headers.get("payment-required")).to.equal(null);
    });

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

    it("does not believe a success on another network, without a transaction, or of another amount", async () => {
      const lies = [{ network: "eip155:1" }, { transaction: "" }, { amount: "999" }];
      for (const lie of lies) {
        shop.rail.script.settle = (_payment, { network }) => ({ success: true, transaction: "0x1", network, ...lie });
        const response = await shop.buy("/v1/roll", ROLL);
        expect(response.status, JSON.stringify(lie)).to.equal(503);
      }
    });

    it("is settled by the reconciler, also when nobody asks again", async () => {
      const payment = await shop.pay("/v1/roll");
      shop.rail.script.settle = timesOut;
      await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      delete shop.rail.script.settle;
      await shop.until(() => shop.rail.moved.size === 1);
      await shop.until(() => ![...shop.store.entries.keys()].some((key) => key.startsWith("open:")));
    });

    it("is taken up after a restart by the reconciler", async () => {
      shop.rail.script.settle = timesOut;
      await shop.buy("/v1/roll", ROLL);
      await shop.restart();
      delete shop.rail.script.settle;
      await shop.until(() => shop.rail.moved.size === 1);
    });

    it("ends as refused, and never as charged, when the chain says that the authorization is dead", async () => {
      const payment = await shop.pay("/v1/roll");
      shop.rail.script.settle = timesOut;
      await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      shop.rail.script.find = () => ({ state: "dead" });
      const again = await shop.retry("/v1/roll", ROLL, payment);
      expect(again.status).to.equal(402);
      expect(shop.rail.moved.size).to.equal(0);
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

  describe("after the terms have changed", () => {
    it("takes payments for challenges that were made before, also across a restart", async () => {
      const old = [await shop.pay("/v1/roll"), await shop.pay("/v1/roll")];
      await shop.restart({ price: "0.002" });
      const challenge = (await (await fetch(`${shop.url}/v1/roll`, { method: "POST" })).json()) as {
        accepts: { amount: string }[];
      };
      expect(challenge.accepts[0]?.amount).to.equal("2000");
      expect((await shop.post("/v1/roll", ROLL, { "payment-signature": old[0] as string })).status).to.equal(200);
      shop.clock.advance(8 * 60_000);
      const late = await shop.post("/v1/roll", ROLL, { "payment-signature": old[1] as string });
      expect(late.status).to.equal(402);
    });

    it("takes V1 payments for the earlier price too", async () => {
      const old = await shop.payV1("/v1/roll");
      await shop.restart({ price: "0.002" });
      const response = await shop.post("/v1/roll", ROLL, { "x-payment": old });
      expect(response.status).to.equal(200);
    });
  });

  describe("of a V1 payer", () => {
    it("is answered with X-PAYMENT-RESPONSE too, and settled in the form of version 2", async () => {
      let settled: { x402Version?: number; accepted?: { amount?: string } } = {};
      shop.rail.script.settle = (payment, offer) => {
        settled = payment;
        return move(shop.rail, payment, offer);
      };
      const response = await shop.post("/v1/roll", ROLL, { "x-payment": await shop.payV1("/v1/roll") });
      expect(response.status).to.equal(200);
      expect(response.headers.get("x-payment-response")).to.equal(response.headers.get("payment-response"));
      expect(settled).to.deep.include({ x402Version: 2 });
      expect(settled.accepted?.amount).to.equal("1000");
    });

    it("gets V1 challenges when the payment is refused", async () => {
      const response = await shop.post("/v1/roll", ROLL, { "x-payment": "!!!" });
      expect(response.status).to.equal(402);
      expect(await response.json()).to.include({ x402Version: 1, error: "invalid_payload" });
    });
  });

  describe("while no rail is up", () => {
    it("is never free: 503, until the facilitator is there, and then recovers by itself", async () => {
      await shop.close();
      const rail = createScriptedRail();
      rail.script.supported = () => {
        throw new Problem("facilitator-unavailable");
      };
      shop = await openShop({ rail });
      const down = await fetch(`${shop.url}/v1/roll`, { method: "POST" });
      expect(down.status).to.equal(503);
      delete rail.script.supported;
      await shop.until(async () => (await fetch(`${shop.url}/v1/roll`, { method: "POST" })).status === 402);
      expect(shop.executions).to.equal(0);
    });
  });

  describe("when the store fails", () => {
    it("fails closed at the reservation: 503, nothing run, nobody charged", async () => {
      await shop.close();
      const store = createMemoryStore();
      shop = await openShop({ store });
      const payment = await shop.pay("/v1/roll");
      store.putIfAbsent = () => Promise.reject(new Problem("unavailable", "The store is gone"));
      const response = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      expect(response.status).to.equal(503);
      expect(shop.rail.asked).to.include({ verify: 0, settle: 0 });
    });

    it("does not settle what it could not put on record", async () => {
      await shop.close();
      const store = createMemoryStore();
      shop = await openShop({ store });
      const payment = await shop.pay("/v1/roll");
      const putIfAbsent = store.putIfAbsent.bind(store);
      store.putIfAbsent = (key, value, ttlMs) =>
        key.startsWith("payment:") ? Promise.reject(new Problem("unavailable")) : putIfAbsent(key, value, ttlMs);
      const response = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      expect(response.status).to.equal(503);
      expect(shop.rail.asked.settle).to.equal(0);
    });

    it("still answers whoever has paid when only the last note of it fails, and once only", async () => {
      await shop.close();
      const store = createMemoryStore();
      shop = await openShop({ store });
      const payment = await shop.pay("/v1/roll");
      const set = store.set.bind(store);
      store.set = (key, value, ttlMs) =>
        key.startsWith("payment:") ? Promise.reject(new Problem("unavailable")) : set(key, value, ttlMs);
      expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(200);
      store.set = set;
      const again = await shop.retry("/v1/roll", ROLL, payment);
      expect(await again.json()).to.deep.equal({ value: 1, executions: 1 });
      expect(shop.rail.moved.size).to.equal(1);
    });
  });

  describe("in two processes that share a store", () => {
    it("is executed once, and a stalled process cannot settle what the other one has begun", async () => {
      const payment = await shop.pay("/v1/roll");
      const twin = await openShop({ store: shop.store, rail: shop.rail, clock: shop.clock, baseUrl: shop.url });
      try {
        const both = [shop, twin].flatMap((one) =>
          Array.from({ length: 50 }, () => one.post("/v1/roll", ROLL, { "payment-signature": payment })),
        );
        await Promise.all(both);
        expect(shop.executions + twin.executions).to.equal(1);
        expect(shop.rail.asked.settle).to.equal(1);
        expect(shop.rail.moved.size).to.equal(1);
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
