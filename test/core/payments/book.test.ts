import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { BookEvent, SaleEvent } from "../../../runtime/core/books/events.ts";
import type { PaymentRecord } from "../../../runtime/core/payments/record.ts";
import { createReservations } from "../../../runtime/core/payments/reservations.ts";
import { createSaleOf } from "../../../runtime/core/payments/sale-of.ts";
import { createPurchaseList } from "../../../runtime/core/wallets/purchases.ts";
import type { PaymentPayload } from "../../../runtime/core/x402/x402.ts";
import { recordCounts } from "../../support/books/recorded-counts.ts";
import { claims, createScriptedRail, move, refuses } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openShop, ROLL, type Shop, type ShopOptions } from "../../support/sellers/shop.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const BUYER = `0x${"1".repeat(40)}`;

describe("the sale of a payment on Solana", () => {
  it("is its signer's, whatever the facilitator reports", () => {
    const accepted = {
      network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      asset: "mint",
      amount: "1",
      payTo: "seller",
    };
    const record = {
      state: "settled",
      settledAt: 0,
      service: "roll",
      payment: { accepted, payload: { transaction: "" } },
      payer: "signer",
      receipt: { success: true, transaction: "1", network: accepted.network, payer: "somebody else" },
      sold: { door: "rest", requestId: "", rail: "solana", decimals: 6, usd: "0.000001" },
    } as unknown as PaymentRecord; // As much of one as a sale is made from.
    expect(createSaleOf([])("key", record)).to.include({ payer: "signer", receiver: "seller" });
  });
});

describe("a sale", () => {
  it("is taken back as often as reorganisations take it off the chain, by the transaction that it counted by", async () => {
    const store = createMemoryStore();
    const { correctSale } = createReservations({ store, clock: { now: Date.now }, onError: () => {} });
    for (const shown of ["0xb", undefined, "0xc"]) {
      await correctSale("key", "reversal", shown); // As another process looks, too.
      await correctSale("key", "reversal", shown);
      if (shown) for (const _ of [1, 2]) await correctSale("key", "restoration", shown);
    }
    const entered = [...(store.events?.values() ?? [])].map(
      (event) => `${event.kind} ${"transaction" in event && event.transaction}`,
    );
    expect(entered).to.deep.equal(["reversal undefined", "restoration 0xb", "reversal 0xb", "restoration 0xc"]);
  });
});

describe("the book of a shop", () => {
  let shop: Shop;
  const { counters, counted, refused, answered, clear } = recordCounts();
  const open = async (options: ShopOptions = {}): Promise<void> => {
    clear();
    shop = await openShop({ ...options, counters });
  };
  afterEach(() => shop.close());
  const events = (): BookEvent[] => [...(shop.store.events?.values() ?? [])];
  const sales = (): SaleEvent[] => events().filter((event) => event.kind === "sale");
  const countOf = (what: string): number => counted.filter((one) => one.what === what && one.rail === "base").length;
  const send = (path: string, payment: string): Promise<Response> =>
    shop.post(path, ROLL, { "payment-signature": payment });
  const timesOut = (): never => {
    throw new Problem("facilitator-unavailable", "The facilitator did not answer to settle");
  };

  it("has a paid call as one sale, with its terms and its steps", async () => {
    await open();
    const headers = { "payment-signature": await shop.pay("/v1/roll"), "x-request-id": "request-7" };
    const response = await shop.post("/v1/roll", ROLL, headers);
    const { transaction } = shop.receipt(response);
    const [sale, ...more] = events() as [SaleEvent];
    expect(more).to.deep.equal([]);
    const { at, id, times, ...terms } = sale;
    expect(id).to.match(/^sale_[0-9a-f]{20}$/);
    expect(terms).to.deep.equal({
      kind: "sale",
      service: "roll",
      door: "rest",
      rail: "base",
      network: "eip155:8453",
      decimals: 6,
      asset: shop.rail.manifest.asset,
      amount: "1000",
      usd: "0.001",
      payer: BUYER,
      receiver: shop.rail.payTo,
      transaction,
      requestId: "request-7",
      job: null,
      set: null,
    });
    const { begun = 0, reserved = 0, verified = 0, worked = 0, recorded = 0 } = times ?? {};
    const steps = [begun, reserved, verified, worked, recorded, at];
    expect(steps).to.deep.equal(steps.toSorted((one, other) => one - other));
    expect(begun).to.be.greaterThan(Date.now() - 60_000);
  });

  it("has nothing of calls that are not paid, refused, failed, or repeated", async () => {
    await open();
    await shop.post("/v1/roll", ROLL);
    shop.rail.script.verify = () => ({ isValid: false, invalidReason: "insufficient_funds" });
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(402);
    delete shop.rail.script.verify;
    shop.handler = () => {
      throw new Problem("upstream-failed", "away");
    };
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(502);
    shop.handler = undefined;
    shop.rail.script.settle = refuses("insufficient_balance");
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(402);
    expect(events()).to.deep.equal([]);
    delete shop.rail.script.settle;
    const payment = await shop.pay("/v1/roll");
    for (const _ of [1, 2, 3]) expect((await send("/v1/roll", payment)).status).to.equal(200);
    expect(events()).to.have.length(1);
    const ends = ["attempt", "result", "replay", "refused:insufficient_funds", "failed:upstream-failed"];
    expect(ends.map(countOf)).to.deep.equal([6, 1, 2, 2, 1]);
    expect(refused).to.deep.equal([
      [BUYER, "refused:insufficient_funds"],
      [BUYER, "failed:upstream-failed"],
      [BUYER, "refused:insufficient_funds"],
    ]);
    expect(answered).to.deep.equal(["sent", "later", "later"]);
  });

  it("has what the chain shows although nobody said so, then and later", async () => {
    await open();
    shop.rail.script.settle = (payment, offer) => {
      move(shop.rail, payment, offer);
      return timesOut();
    };
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
    expect(sales()).to.have.length(1);
    shop.rail.script.settle = timesOut;
    const payment = await shop.pay("/v1/roll");
    expect((await send("/v1/roll", payment)).status).to.equal(503);
    expect(sales()).to.have.length(1);
    delete shop.rail.script.settle;
    await eventually(() => sales().length === 2);
    expect(sales()[1]?.transaction).to.match(/^0x0+2$/);
  });

  it("has a settlement that was refused, and moved all the same", async () => {
    await open();
    let refused: PaymentPayload | undefined;
    shop.rail.script.settle = (payment, { network }) => {
      refused = payment;
      return { success: false, errorReason: "insufficient_balance", transaction: "", network };
    };
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(402);
    expect(sales()).to.have.length(0);
    move(shop.rail, refused!, refused!.accepted);
    await eventually(() => sales().length === 1);
  });

  it("has payments of version 1, and calls through MCP", async () => {
    await open();
    const response = await shop.post("/v1/roll", ROLL, { "x-payment": await shop.payV1("/v1/roll") });
    expect(response.status).to.equal(200);
    expect(sales()[0]).to.include({ door: "rest", amount: "1000" });
    const payment = JSON.parse(Buffer.from(await shop.pay("/v1/roll", { resource: undefined }), "base64").toString());
    const params = { name: "roll", arguments: ROLL, _meta: { "x402/payment": payment } };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const accept = { accept: "application/json, text/event-stream" };
    const answer = await (await shop.post("/mcp", call, accept)).text();
    expect(sales()[1], answer).to.include({ door: "mcp", service: "roll" });
  });

  it("has a call that is paid first once, however often its work is tried", async () => {
    await open();
    let runs = 0;
    shop.handler = () => {
      runs += 1;
      if (runs < 3) throw new Problem("upstream-failed", "away");
      return { value: 1 };
    };
    const payment = await shop.pay("/v1/echo");
    await send("/v1/echo", payment);
    await eventually(async () => (await shop.retry("/v1/echo", ROLL, payment)).status === 200);
    expect(sales()).to.have.length(1);
    expect(sales()[0]?.job).to.match(/^[0-9a-f-]{36}$/);
  });

  it("takes a facilitator's lie back, and believes the chain when it shows the transfer after all", async () => {
    const rail = createScriptedRail();
    await open({ rail, patience: { confirmAfterMs: 10, claimMs: 1 } });
    let kept: PaymentPayload | undefined;
    rail.script.settle = (payment, { network }) => {
      kept = payment;
      return { success: true, transaction: `0x${"f".repeat(64)}`, network };
    };
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
    const kinds = (): string[] => events().map(({ kind }) => kind);
    await eventually(() => kinds().length === 2);
    expect(kinds()).to.deep.equal(["sale", "reversal"]);
    await shop.restart(); // Another process does not take it back a second time, and knows that it was.
    move(rail, kept!, kept!.accepted);
    await eventually(() => kinds().length === 3);
    expect(kinds()).to.deep.equal(["sale", "reversal", "restoration"]);
    const transaction = [...rail.moved.values()][0];
    expect(events()[2], "another transaction has paid it").to.include({ sale: sales()[0]?.id, transaction });
  });

  it("names the transaction on the chain, where the facilitator has replaced the one that it reports", async () => {
    const rail = createScriptedRail();
    await open({ rail, patience: { confirmAfterMs: 10 } });
    rail.script.settle = (payment, offer) => ({ ...move(rail, payment, offer), transaction: `0x${"e".repeat(64)}` });
    const payment = await shop.pay("/v1/roll");
    expect((await send("/v1/roll", payment)).status).to.equal(200);
    const [transaction] = rail.moved.values();
    await eventually(() => events().length === 3);
    expect(events().map(({ kind }) => kind)).to.deep.equal(["sale", "reversal", "restoration"]);
    expect(events()[2]).to.include({ transaction });
    const bought = async (): Promise<unknown> => (await createPurchaseList(shop).list([`eip155:8453:${BUYER}`], 1))[0];
    await eventually(async () => ((await bought()) as { transaction: string }).transaction === transaction);
    expect(shop.receipt(await send("/v1/roll", payment)), "what the buyer finds there").to.include({ transaction });
  });

  it("looks for it ten minutes longer at most, once the chain says that it was never made", async () => {
    await open({ patience: { confirmAfterMs: 10, claimMs: 1 } });
    shop.rail.script.settle = claims(`0x${"f".repeat(64)}`);
    shop.rail.script.find = () => ({ state: "dead" });
    await shop.buy("/v1/roll", ROLL);
    await eventually(() => events().length === 2);
    const openKeys = (): number => [...shop.store.entries.keys()].filter((key) => key.startsWith("open:")).length;
    for (const [minutes, open] of [
      [9, 1],
      [2, 0],
    ] as const) {
      const { find } = shop.rail.asked;
      shop.clock.advance(minutes * 60_000);
      await shop.restart(); // Looks at once.
      await eventually(() => shop.rail.asked.find > find && openKeys() === open);
    }
  });

  it("names the dollars of a sale in another currency, as its price was", async () => {
    const yen = { network: "eip155:137", currency: "jpy", decimals: 18, symbol: "JPYC" };
    await open({ rail: createScriptedRail({ id: "polygon", ...yen }) });
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
    expect(sales()[0]).to.include({ rail: "polygon", decimals: 18, usd: "0.001" });
    expect(BigInt(sales()[0]?.amount ?? 0) > 10n ** 15n).to.equal(true);
  });
});
