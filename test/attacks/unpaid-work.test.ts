import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";
import { claims, createScriptedRail, move, refuses, type ScriptedRail } from "../support/chains/scripted-rail.ts";
import { eventually } from "../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";

const PRICE = 1000n; // 0.001 USDC
const refuse = (): never => {
  throw new Problem("upstream-failed", "The dice fell off the table");
};

/** A chain on which the only payer holds so much: what is settled comes off it. */
function createLimitedRail(balance: bigint): ScriptedRail {
  const rail = createScriptedRail();
  const left = (): bigint => balance - BigInt(rail.moved.size) * PRICE;
  rail.script.balance = left;
  rail.script.verify = () =>
    left() >= PRICE ? { isValid: true, payer: PAYER } : { isValid: false, invalidReason: "insufficient_funds" };
  rail.script.settle = (payment, offer) => (left() >= PRICE ? move(rail, payment, offer) : refuses()(payment, offer));
  return rail;
}
const PAYER = "0x1111111111111111111111111111111111111111";

/** Has the handlers of these shops wait. @returns lets them go on */
function hold(...shops: Shop[]): () => void {
  const gate = Promise.withResolvers<void>();
  for (const shop of shops)
    shop.handler = async () => {
      await gate.promise;
      return { value: 1 };
    };
  return gate.resolve;
}

describe("work that nobody pays for", () => {
  let shop: Shop;
  let rail: ScriptedRail;
  afterEach(() => shop.close());

  describe("where the work comes before the money", () => {
    it("is not had twenty times at once with the money for one call", async () => {
      rail = createLimitedRail(PRICE);
      shop = await openShop({ rail });
      const payments = await Promise.all(Array.from({ length: 20 }, () => shop.pay("/v1/roll")));
      const proceed = hold(shop);
      const answers = payments.map((payment) => shop.post("/v1/roll", ROLL, { "payment-signature": payment }));
      let refused = 0;
      for (const answer of answers) void answer.then(({ status }) => (refused += status === 429 ? 1 : 0));
      await eventually(() => refused === 19);
      proceed();
      const ended = await Promise.all(answers);
      expect(ended.filter(({ status }) => status === 200)).to.have.length(1);
      expect(ended.find(({ status }) => status === 429)?.headers.get("retry-after")).to.equal("2");
      expect([shop.executions, rail.moved.size]).to.deep.equal([1, 1]);
    });

    it("is not had from two processes at once with the money for one call", async () => {
      rail = createLimitedRail(PRICE);
      shop = await openShop({ rail });
      const other = await openShop({ rail, store: shop.store, baseUrl: shop.url });
      const proceed = hold(shop, other);
      const [one, two] = [await shop.pay("/v1/roll"), await shop.pay("/v1/roll")];
      const held = shop.post("/v1/roll", ROLL, { "payment-signature": one });
      await eventually(() => shop.executions === 1);
      expect((await other.post("/v1/roll", ROLL, { "payment-signature": two })).status).to.equal(429);
      proceed();
      expect((await held).status).to.equal(200);
      expect([shop.executions, other.executions]).to.deep.equal([1, 0]);
      await other.close();
    });

    it("is had fifty times at once by a wallet that can pay for it", async () => {
      rail = createLimitedRail(50n * PRICE);
      shop = await openShop({ rail });
      const answers = await Promise.all(Array.from({ length: 50 }, () => shop.buy("/v1/roll", ROLL)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 50 }, () => 200));
      expect([shop.executions, rail.moved.size]).to.deep.equal([50, 50]);
    });

    it("has at most so many calls of one payer at once as the site says", async () => {
      shop = await openShop({ callsPerPayer: 2 });
      const proceed = hold(shop);
      const held = [shop.buy("/v1/roll", ROLL), shop.buy("/v1/roll", ROLL)];
      await eventually(() => shop.executions === 2);
      const third = await shop.buy("/v1/roll", ROLL);
      expect(third.status).to.equal(429);
      expect(((await third.json()) as { detail: string }).detail).to.match(/^2 calls of this payer/);
      proceed();
      expect((await Promise.all(held)).map(({ status }) => status)).to.deep.equal([200, 200]);
    });

    it("is in flight no longer once it is settled after all", async () => {
      rail = createLimitedRail(2n * PRICE);
      const { settle } = rail.script;
      rail.script.settle = () => Promise.reject(new Error("the facilitator broke off"));
      shop = await openShop({ rail });
      const payment = await shop.pay("/v1/roll");
      const post = () => shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      expect((await post()).status).to.equal(503);
      rail.script.settle = settle!;
      expect((await eventually(post, ({ status }) => status === 200)).status).to.equal(200);
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
    });

    it("is not had again while it is open whether the calls before are paid, however long that takes", async () => {
      rail = createScriptedRail();
      rail.script.settle = () => Promise.reject(new Error("the facilitator broke off"));
      shop = await openShop({ rail, callsPerPayer: 2 });
      for (const status of [503, 503, 429]) expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(status);
      shop.clock.advance(280_000); // Longer than a call takes, and shorter than its authorization is valid.
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(429);
      expect(shop.executions).to.equal(2);
    });

    it("counts as in flight for its whole time when it is not paid in the end", async () => {
      rail = createLimitedRail(PRICE);
      rail.script.settle = () => Promise.reject(new Error("the facilitator broke off"));
      shop = await openShop({ rail });
      const payment = await shop.pay("/v1/roll");
      const post = () => shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      expect((await post()).status).to.equal(503);
      rail.script.find = () => ({ state: "dead" });
      expect((await eventually(post, ({ status }) => status === 402)).status).to.equal(402);
      expect((await shop.buy("/v1/roll", ROLL)).status, "it pays first").to.equal(402);
      await shop.store.delete("pays-first:eip155:8453:0x1111111111111111111111111111111111111111");
      expect((await shop.buy("/v1/roll", ROLL)).status, "if it did not").to.equal(429);
      expect(shop.executions).to.equal(1);
    });

    it("is had once by a payer who cancels the authorization meanwhile: from then on it pays first, for a day", async () => {
      shop = await openShop();
      rail = shop.rail;
      const cancelled = refuses("invalid_exact_evm_signature");
      rail.script.settle = cancelled;
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(402);
      expect(shop.executions).to.equal(1);
      for (let at = 0; at < 5; at++) expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(402);
      expect(shop.executions, "nothing more was worked on").to.equal(1);
      delete rail.script.settle;
      expect((await shop.buy("/v1/roll", ROLL)).status, "paid first, and delivered").to.equal(200);
      rail.script.settle = cancelled;
      shop.clock.advance(25 * 60 * 60_000);
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(402);
      expect(shop.executions, "a day later it is trusted once more").to.equal(3);
    });

    it("is had three times an hour by a payer who leaves each time, who then pays first", async () => {
      shop = await openShop();
      rail = shop.rail;
      const leave = async (): Promise<void> => {
        const payment = await shop.pay("/v1/roll");
        const begun = shop.executions;
        const leaving = new AbortController();
        const ended = Promise.withResolvers<void>();
        shop.handler = async (_input, { signal }) => {
          leaving.abort();
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          ended.resolve();
          return { value: 1 };
        };
        const headers = { "payment-signature": payment };
        await shop.post("/v1/roll", ROLL, headers, leaving.signal).catch(() => {});
        if (shop.executions > begun) await ended.promise;
      };
      for (let at = 0; at < 3; at++) await leave();
      await eventually(async () => (await shop.store.get(`pays-first:eip155:8453:${PAYER}`)) !== undefined);
      expect([shop.executions, rail.moved.size]).to.deep.equal([3, 0]);
      shop.handler = undefined;
      await shop.buy("/v1/roll", ROLL);
      expect(rail.moved.size).to.equal(1);
      shop.handler = refuse;
      expect((await shop.buy("/v1/roll", ROLL)).status, "settled before it failed").to.equal(502);
      expect(rail.moved.size).to.equal(2);
    });
  });

  describe("where the money comes before the work", () => {
    it("leaves no more traces than were paid for: one balance, twenty calls at once", async () => {
      rail = createLimitedRail(PRICE);
      shop = await openShop({ rail });
      const answers = await Promise.all(Array.from({ length: 20 }, () => shop.buy("/v1/echo", ROLL)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      expect([shop.executions, rail.moved.size]).to.deep.equal([1, 1]);
    });

    it("leaves none when each authorization is cancelled after it was sent", async () => {
      shop = await openShop();
      shop.rail.script.settle = refuses("invalid_exact_evm_signature");
      for (let at = 0; at < 8; at++) expect((await shop.buy("/v1/echo", ROLL)).status).to.equal(402);
      expect([shop.executions, shop.rail.moved.size]).to.deep.equal([0, 0]);
    });

    it("leaves none on the word of a facilitator: the chain must show the transfer", async () => {
      rail = createScriptedRail();
      rail.script.settle = claims(`0x${"fe".repeat(32)}`);
      shop = await openShop({ rail, patience: { confirmMs: 50 } });
      const answer = await shop.buy("/v1/echo", ROLL);
      expect(answer.status).to.equal(503);
      expect(((await answer.json()) as { code: string }).code).to.equal("settlement-unknown");
      expect(shop.executions).to.equal(0);
    });

    it("costs nothing when it is known to fail before", async () => {
      shop = await openShop({
        ready: () => {
          throw new Problem("unavailable", "The treasury has no gas");
        },
      });
      const answer = await shop.buy("/v1/echo", ROLL);
      expect(answer.status).to.equal(503);
      expect(((await answer.json()) as { detail: string }).detail).to.equal("The treasury has no gas");
      expect([shop.executions, shop.rail.asked.settle]).to.deep.equal([0, 0]);
    });
  });
});
