import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { createFacilitatorTrust } from "../../../runtime/core/payments/trust.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { claims, createScriptedRail, refuses } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { createTestClock } from "../../support/test-clock.ts";

describe("a paid request", () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());

  it("is answered and receipted once it is paid", async () => {
    const response = await shop.buy("/v1/roll", ROLL);
    expect(response.status).to.equal(200);
    expect(await response.json()).to.deep.equal({ value: 1, executions: 1 });
    expect(shop.receipt(response)).to.deep.include({ success: true, network: "eip155:8453" });
    expect(response.headers.get("cache-control")).to.match(/private/);
    expect(shop.rail.asked).to.include({ verify: 1, settle: 1 });
  });

  it("tells the handler who has paid and where, whether the work comes first or the money", async () => {
    const told: unknown[] = [];
    shop.handler = (_input, { payer, network }) => {
      told.push([payer, network]);
      return { value: 1 };
    };
    for (const path of ["/v1/roll", "/v1/echo"]) expect((await shop.buy(path, ROLL)).status).to.equal(200);
    const payer = ["0x1111111111111111111111111111111111111111", "eip155:8453"];
    expect(told).to.deep.equal([payer, payer]);
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

  it("is worked on as it was bought, whatever an earlier run has done to its input", async () => {
    const seen: unknown[] = [];
    shop.handler = (input) => {
      const { low, data } = input as typeof input & { data: number[] };
      seen.push({ low, data: [...data] });
      input.low = 100;
      data.push(data.length);
      if (seen.length === 1) throw new Problem("upstream-failed");
      return { value: 1 };
    };
    const payment = await shop.pay("/v1/echo"); // It is paid first, so that what is owed is kept.
    const buy = () => shop.post("/v1/echo", { ...ROLL, data: [7] }, { "payment-signature": payment });
    expect((await buy()).status).to.equal(502);
    expect((await buy()).status).to.equal(200);
    expect(seen).to.deep.equal(Array(2).fill({ low: ROLL.low, data: [7] }));
  });

  it("is worked on as it was bought, whatever has been asked before the charge", async () => {
    const ready = (input: { low: number }): void => {
      input.low = 100;
    };
    const asked = await openShop({ ready });
    const seen: number[] = [];
    asked.handler = ({ low }) => {
      seen.push(low);
      return { value: 1 };
    };
    const response = await asked.buy("/v1/echo", ROLL);
    await asked.close();
    expect([response.status, seen]).to.deep.equal([200, [ROLL.low]]);
  });

  it("is not charged when the output breaks its schema, which is told to nobody", async () => {
    shop.handler = () => ({ value: "secret" });
    const response = await shop.buy("/v1/roll", ROLL);
    expect(response.status).to.equal(500);
    expect(await response.text()).not.to.contain("secret");
    expect(shop.rail.asked.settle).to.equal(0);
  });

  it("ends with 504 at its deadline and is not charged", async () => {
    const brief = await openShop({ deadlineSeconds: 0.1 });
    brief.handler = () => new Promise(() => {});
    const response = await brief.buy("/v1/roll", ROLL);
    expect(response.status).to.equal(504);
    expect(brief.rail.asked.settle).to.equal(0);
    await brief.close();
  });

  /** Its caller leaves while the facilitator is asked. @returns what lets the facilitator answer */
  async function leaveAmid(step: "verify" | "settle", payment: string, answer: () => unknown): Promise<() => void> {
    const [reached, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = async (): Promise<unknown> => {
      reached.resolve();
      await proceed.promise;
      return answer();
    };
    Object.assign(shop.rail.script, { [step]: held });
    const leaving = new AbortController();
    const call = shop.post("/v1/roll", ROLL, { "payment-signature": payment }, leaving.signal).catch(() => "left");
    await reached.promise;
    leaving.abort();
    expect(await call).to.equal("left");
    for (let at = 0; at < 3; at += 1) await shop.post("/v1/roll", ROLL); // The server has seen by now that they left.
    return proceed.resolve;
  }

  const keys = (word: string): string[] => {
    const { entries, members = new Map() } = shop.store;
    return [...entries.keys(), ...members.keys()].filter((key) => key.startsWith(`${word}:`));
  };

  it("counts as in flight, and not as left, when its caller leaves a settlement whose outcome is not known", async () => {
    const proceed = await leaveAmid("settle", await shop.pay("/v1/roll"), () => {
      throw new Problem("facilitator-unavailable");
    });
    proceed();
    await eventually(() => keys("lease").length === 0);
    expect([keys("in-flight").length, keys("left").length]).to.deep.equal([1, 0]);
  });

  for (const order of ["last", "first"])
    it(`has nothing done or charged, and has left no work, when its caller leaves before it begins (paid ${order})`, async () => {
      if (order === "first") await shop.store.set(`pays-first:eip155:8453:0x${"1".repeat(40)}`, 1);
      const payment = await shop.pay("/v1/roll");
      const proceed = await leaveAmid("verify", payment, () => ({ isValid: true }));
      proceed();
      await eventually(() => keys("lease").length === 0);
      expect([shop.executions, shop.rail.asked.settle, keys("left").length]).to.deep.equal([0, 0, 0]);
      expect((await shop.retry("/v1/roll", ROLL, payment)).status, "the payment is still good").to.equal(200);
    });

  it("is confirmed by the chain from a dollar on, also where the service has become cheaper since it was offered", async () => {
    await shop.close();
    shop = await openShop({ price: "5", patience: { confirmMs: 1 } });
    const payment = await shop.pay("/v1/roll");
    await shop.restart({ price: "0.001" });
    shop.rail.script.settle = claims(`0x${"1".repeat(64)}`);
    const response = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
    expect(response.status, "the facilitator's word is not enough").to.equal(503);
  });

  describe("when the settlement fails after the handler", () => {
    it("withholds the result and says why, in a fresh challenge and in PAYMENT-RESPONSE", async () => {
      shop.rail.script.settle = refuses();
      const response = await shop.buy("/v1/roll", ROLL);
      expect(response.status).to.equal(402);
      const body = (await response.json()) as object;
      expect(body).to.have.property("error", "insufficient_funds");
      expect(body).not.to.have.property("value");
      expect(shop.receipt(response)).to.deep.include({ success: false, errorReason: "insufficient_funds" });
    });

    it("makes its payer pay first also where no rail is up any more, so that no new challenge can be made", async () => {
      await shop.close();
      const [rail, store, clock] = [createScriptedRail(), createMemoryStore(), createTestClock()];
      const trust = createFacilitatorTrust({ site: { rails: [rail.manifest] }, store, clock, log: silentLog });
      shop = await openShop({ rail, store, clock, trust });
      shop.handler = async () => {
        const facilitator = String(rail.manifest.facilitator);
        const claim = { payment: "another", transaction: "0xfe", claimedAt: clock.now() };
        trust.withdraw({ ...claim, facilitator, network: rail.manifest.network });
        await eventually(async () => (await shop.post("/v1/roll", ROLL)).status === 503);
        return { value: 1 };
      };
      rail.script.settle = refuses();
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(503);
      expect([rail.asked.settle, keys("pays-first").length]).to.deep.equal([1, 1]);
    });

    it("delivers the kept result, without a second run, once the same payment can be settled", async () => {
      shop.rail.script.settle = refuses();
      const payment = await shop.pay("/v1/roll");
      await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      delete shop.rail.script.settle;
      const again = await shop.retry("/v1/roll", ROLL, payment);
      expect(await again.json()).to.deep.equal({ value: 1, executions: 1 });
      expect(shop.rail.moved.size).to.equal(1);
    });
  });
});
