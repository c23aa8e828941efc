import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { createRefundRecords, type OpenRefund } from "../../../runtime/core/refunds/records.ts";
import { move } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const refuse = (): never => {
  throw new Problem("upstream-failed", "The dice fell off the table");
};

describe("a credit: what was paid first and not delivered", () => {
  let shop: Shop;
  let payment: string;
  const send = (input: object = ROLL): Promise<Response> =>
    shop.post("/v1/echo", input, { "payment-signature": payment });
  const refundsOf = (): string[] => [...shop.store.entries.keys()].filter((key) => key.startsWith("refund:"));
  beforeEach(async () => {
    shop = await openShop();
    payment = await shop.pay("/v1/echo");
    shop.handler = refuse;
  });
  afterEach(() => shop.close());

  it("says that it was settled, with the receipt, and what to do", async () => {
    const answer = await send();
    expect([answer.status, answer.headers.get("retry-after")]).to.deep.equal([502, "5"]);
    expect(shop.receipt(answer)).to.deep.include({ success: true, network: "eip155:8453" });
    const { code, detail } = (await answer.json()) as { code: string; detail: string };
    expect(code).to.equal("paid-not-delivered");
    expect(detail).to.match(/The dice fell off the table.*same payment, at no further charge/);
  });

  it("says who has paid how much when the chain alone tells that it was settled", async () => {
    shop.rail.script.settle = (sent, offer) => {
      move(shop.rail, sent, offer);
      throw new Error("The answer is lost");
    };
    const answer = await send();
    expect(answer.status).to.equal(502);
    const { payer, amount } = shop.receipt(answer) ?? {};
    expect([payer, amount]).to.deep.equal(["0x1111111111111111111111111111111111111111", "1000"]);
  });

  it("runs again for the same payment and input, without another charge, and buys nothing else", async () => {
    await send();
    expect((await send({ low: 2, high: 6 })).status).to.equal(409);
    shop.handler = undefined;
    const delivered = await eventually(send, ({ status }) => status !== 409);
    expect(delivered.status).to.equal(200);
    expect(shop.receipt(delivered)).to.deep.include({ success: true });
    expect([shop.rail.moved.size, shop.rail.asked.settle]).to.deep.equal([1, 1]);
    const { executions } = shop;
    expect((await send()).status).to.equal(200);
    expect(shop.executions, "the answer is kept").to.equal(executions);
  });

  it("is delivered in the background when nobody asks", async () => {
    await send();
    shop.handler = undefined;
    await eventually(() => shop.executions === 2);
    const delivered = await eventually(send, ({ status }) => status !== 409);
    expect([delivered.status, shop.executions]).to.deep.equal([200, 2]);
  });

  it("is delivered by the next process when its own dies during the work, and nobody asks", async () => {
    const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<object>()];
    shop.handler = () => {
      begun.resolve();
      return over.promise;
    };
    const lost = send();
    await begun.promise;
    for (let turn = 0; turn < 50; turn += 1) await setImmediate(); // Writes that the work does not wait for.
    const store = createMemoryStore(shop.clock.now);
    for (const [key, value] of shop.store.entries) store.entries.set(key, value);
    shop.clock.advance(60_000); // The dead process's lease is over.
    const next = await openShop({ store, rail: shop.rail, clock: shop.clock });
    await eventually(() => next.executions === 1).finally(next.close);
    over.resolve({ value: 1 });
    await lost;
  });

  it("is paid back once when it cannot be delivered in ten minutes, and is never delivered then", async () => {
    await send();
    shop.clock.advance(10 * 60_000);
    const over = await eventually(send, ({ status }) => status !== 409);
    const { detail, refund_pending } = (await over.json()) as { detail: string; refund_pending: string };
    expect(over.status).to.equal(502);
    expect(detail).to.match(/It has to be paid back by hand\.$/);
    expect(refund_pending, "this shop has no rail that refunds by itself").to.equal("manual");
    const { executions } = shop;
    shop.handler = undefined;
    expect((await send()).status).to.equal(502);
    expect(shop.executions).to.equal(executions);
    expect(refundsOf()).to.have.length(1);
  });

  it("is paid back at once when no other run could end otherwise", async () => {
    shop.handler = () => {
      throw new Problem("unparseable-input", "There is no such die");
    };
    const answer = await send();
    expect(((await answer.json()) as { detail: string }).detail).to.match(/There is no such die\. It has to be/);
    expect(shop.executions).to.equal(1);
    const [nonce] = shop.rail.moved.keys();
    expect(await shop.store.get(refundsOf()[0] ?? ""), "what the chain must hold").to.have.nested.property(
      "payment.signed.authorization.nonce",
      nonce,
    );
  });

  it("says that nothing is owed once a reorganisation has undone its payment for good", async () => {
    shop.handler = () => {
      throw new Problem("unparseable-input", "There is no such die");
    };
    expect((await send()).status).to.equal(502);
    const refund = (await shop.store.get<OpenRefund>(refundsOf()[0] ?? "")) as OpenRefund;
    await createRefundRecords(shop.store).end(refund, { transaction: null, at: shop.clock.now() });
    const { detail, ...told } = (await (await send()).json()) as Record<string, unknown>;
    expect(detail).to.match(/There is no such die\. A reorganisation .* for good: nothing is owed\.$/);
    expect(told).to.include({ code: "paid-not-delivered", refund_tx: null, refund_pending: null });
    expect(told).not.to.have.property("isUndone");
  });

  it("is paid back in the end, when the store fails just as its refund is opened", async () => {
    shop.handler = () => {
      throw new Problem("unparseable-input", "There is no such die");
    };
    const { putIfAbsent } = shop.store;
    shop.store.putIfAbsent = (key, ...rest) => {
      if (!key.startsWith("refund:")) return putIfAbsent(key, ...rest);
      shop.store.putIfAbsent = putIfAbsent;
      return Promise.reject(new Problem("unavailable", "The store cannot be reached"));
    };
    expect((await send()).status).to.equal(502);
    await eventually(async () => refundsOf().length === 1 || void (await send()));
  });

  /** Another process ends the work while it is done here. */
  const endElsewhere = async (end: object): Promise<void> => {
    const record = [...shop.store.entries.keys()].find((key) => key.startsWith("payment:"));
    await shop.store.putIfAbsent(`owed-end:${record?.slice("payment:".length)}`, end);
  };
  it("is not delivered any more once another process has paid it back", async () => {
    shop.handler = async () => {
      await endElsewhere({ state: "paid-back" });
      return { value: 1 };
    };
    expect((await send()).status).to.equal(502);
    expect(refundsOf()).to.have.length(1);
  });

  it("is not paid back any more once another process has delivered it", async () => {
    shop.handler = async () => {
      await endElsewhere({ state: "delivered", output: { value: 7 } });
      throw new Problem("nothing-found");
    };
    const answer = await send();
    expect([answer.status, await answer.json()]).to.deep.equal([200, { value: 7 }]);
    expect(refundsOf()).to.deep.equal([]);
  });
});
