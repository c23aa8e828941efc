import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { saleId } from "../../../runtime/core/books/events.ts";
import { CUT_OFF, type Invocation, type Outcome } from "../../../runtime/core/call.ts";
import { countCalls } from "../../../runtime/core/payments/count-calls.ts";
import type { Service } from "../../../runtime/core/service.ts";
import type { SettlementState } from "../../../runtime/core/x402/x402.ts";
import { noteCacheRead } from "../../../runtime/drivers/store/cache-reads.ts";
import { recordCounts } from "../../support/books/recorded-counts.ts";
import { nonceOf, refuses } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";

const PAYER = `0x${"1".repeat(40)}`;

describe("the counts of a call whose buyer has gone", () => {
  it("have the answer that was ready", async () => {
    const { counted, answered } = await leave(async () => ({ kind: "result", output: {} }));
    expect(answered).to.deep.equal(["gone"]);
    expect(counted).to.deep.equal(["attempt", "result", "gone"]);
  });

  it("have no failure while nobody was charged", async () => {
    const { counted, refused } = await leave(async () => {
      throw new Problem("unavailable", "The caller is gone");
    });
    expect(counted).to.deep.equal(["attempt", "left"]);
    expect(refused).to.deep.equal([]);
  });

  it("have a failure where the server has cut it off when its grace was over", async () => {
    const cut = async (): Promise<never> => {
      throw new Problem("upstream-failed");
    };
    const { counted, refused } = await leave(cut, CUT_OFF);
    expect(counted).to.deep.equal(["attempt", "failed:unavailable"]);
    expect(refused).to.deep.equal(["failed:unavailable"]);
  });

  for (const code of ["paid-not-delivered", "settlement-unknown"] as const)
    it(`have ${code} as what it is, since the money has moved, or may have`, async () => {
      const { counted, refused } = await leave(async () => {
        throw new Problem(code);
      });
      expect(counted).to.deep.equal(["attempt", `failed:${code}`]);
      expect(refused).to.deep.equal([`failed:${code}`]);
    });
});

describe("the counts of a shop's calls", () => {
  let shop: Shop;
  const { counters, counted, refused, answered, sales, clear } = recordCounts();
  beforeEach(async () => {
    clear();
    shop = await openShop({ counters });
  });
  afterEach(() => shop.close());
  const send = (path: string, payment: string, input = ROLL): Promise<Response> =>
    shop.post(path, input, { "payment-signature": payment });
  const countOf = (what: string): number => counted.filter((one) => one.what === what && one.rail === "base").length;

  it("have who leaves before the money moves as one who left, not as a failure", async () => {
    const working = Promise.withResolvers<void>();
    shop.handler = (_, { signal }) => {
      working.resolve();
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(signal.reason));
      return promise;
    };
    const leaving = new AbortController();
    const headers = { "payment-signature": await shop.pay("/v1/roll") };
    const gone = shop.post("/v1/roll", ROLL, headers, leaving.signal).catch(() => undefined);
    await working.promise;
    leaving.abort();
    await gone;
    await eventually(() => counted.some(({ what }) => what === "left"));
    expect(counted.filter(({ what }) => /^failed|^result/.test(what))).to.deep.equal([]);
    expect(refused).to.deep.equal([]);
  });

  it("have what handlers read from caches for their calls, whether they pay first or last", async () => {
    shop.handler = ({ low }) => {
      noteCacheRead(low === 1);
      return { value: 4 };
    };
    await send("/v1/roll", await shop.pay("/v1/roll"), { ...ROLL, low: 1 });
    await send("/v1/echo", await shop.pay("/v1/echo"), { ...ROLL, low: 2 });
    noteCacheRead(true);
    const reads = counted.filter(({ what }) => what.startsWith("cache:")).map(({ service, what }) => [service, what]);
    expect(reads).to.deep.equal([
      ["roll", "cache:hit"],
      ["echo", "cache:miss"],
    ]);
  });

  it("have a purchase that is paid back as one failure, however often its buyer asks again", async () => {
    shop.handler = () => {
      throw new Problem("unparseable-input", "There is no such die");
    };
    const payment = await shop.pay("/v1/echo");
    for (const _ of [1, 2, 3]) await eventually(async () => (await send("/v1/echo", payment)).status === 502);
    expect(["failed:paid-not-delivered", "replay"].map(countOf)).to.deep.equal([1, 2]);
    expect(refused).to.deep.equal([[PAYER, "failed:paid-not-delivered"]]);
  });

  describe("that name an earlier purchase with a new payment", () => {
    const payAnew = (path: string, nonce: number): Promise<string> =>
      shop.pay(path, { nonce, identifier: "order_2026_11_22_0001" });

    it("have the sale of that purchase as answered later", async () => {
      for (const nonce of [1, 2])
        expect((await send("/v1/roll", await payAnew("/v1/roll", nonce))).status).to.equal(200);
      expect(answered).to.deep.equal(["sent", "later"]);
      expect(new Set(sales).size).to.equal(1);
    });

    it("have its refund as one failure", async () => {
      shop.handler = () => {
        throw new Problem("unparseable-input", "There is no such die");
      };
      for (const nonce of [1, 2])
        expect((await send("/v1/echo", await payAnew("/v1/echo", nonce))).status).to.equal(502);
      expect(["failed:paid-not-delivered", "replay"].map(countOf)).to.deep.equal([1, 1]);
      expect(refused).to.deep.equal([[PAYER, "failed:paid-not-delivered"]]);
    });

    it("have a sale of their own where the earlier payment was never made", async () => {
      const [first, second] = [await payAnew("/v1/roll", 1), await payAnew("/v1/roll", 2)];
      shop.rail.script.settle = refuses();
      expect((await send("/v1/roll", first)).status).to.equal(402);
      const { moved } = shop.rail;
      const isMade = (nonce: string): SettlementState =>
        moved.has(nonce) ? { state: "settled", transaction: moved.get(nonce) ?? "" } : { state: "dead" };
      shop.rail.script = { find: (payment) => isMade(nonceOf(payment)) };
      expect((await send("/v1/roll", second)).status).to.equal(200);
      const [nonce = ""] = moved.keys();
      expect([answered, sales]).to.deep.equal([["sent"], [saleId(`eip155:8453:${PAYER}:${nonce}`)]]);
    });
  });
});

/** Makes a call with a payment, whose caller leaves while it is settled. */
async function leave(end: () => Promise<Outcome>, reason?: unknown) {
  const { counters, counted, refused, answered } = recordCounts();
  const service = { manifest: { id: "roll", price: "0.001" } } as Service;
  const leaving = new AbortController();
  const settle = async (_: Service, { course }: Invocation): Promise<Outcome> => {
    Object.assign(course!, { sale: "sale_1", payer: PAYER });
    leaving.abort(reason);
    return end();
  };
  const call = countCalls(settle, { ...counters, clock: { now: () => 1 } });
  const read = async () => ({ value: {}, from: "body" as const });
  const invocation = { id: "1", input: read, payment: {}, resource: "", signal: leaving.signal };
  await call(service, invocation).catch(() => undefined);
  return { counted: counted.map(({ what }) => what), refused: refused.map(([, what]) => what), answered };
}
