import { expect } from "chai";
import { createRefundRecords } from "../../../runtime/core/refunds/records.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { toSale } from "../../support/books/sales.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json, receiptOf, signFor, stockClient } from "../../support/sellers/stock-buyer.ts";

describe("payphone sales show", () => {
  let shop: OperatedShop;
  before(async () => {
    shop = await openOperatedShop();
  });
  after(() => shop.close());

  const show = async (text: string): Promise<string> => {
    const { out, code } = await runPayphone(["sales", "show", text], { PAYPHONE_DATA_DIR: shop.dataDir });
    expect(code).to.equal(0);
    return out;
  };

  it("tells beside the server how a sale was answered, and how often it was fetched again", async () => {
    const toss = `${shop.running.url}/v1/toss`;
    const paid = json({}, await signFor(await stockClient(shop.sandbox, "base"), await fetch(toss, json({}))));
    const { transaction } = receiptOf(await fetch(toss, paid));
    for (const _ of [1, 2]) expect((await fetch(toss, paid)).status).to.equal(200);
    const life = await eventually(
      () => show(transaction),
      (text) => text.includes("fetched again"),
      200,
    );
    expect(life).to.match(/Z +settled\n.*Z +answered\n.*Z +fetched again \(the last of 2\)\n/);
    const { out } = await runPayphone(["sales", "show", transaction, "--json"], { PAYPHONE_DATA_DIR: shop.dataDir });
    expect(
      JSON.parse(out)
        .life.slice(-2)
        .map(({ step }: { step: string }) => step),
    ).to.deep.equal(["answered", "fetched again (the last of 2)"]);
  });

  it("tells that the work of a sale has failed and waits to be paid back", async () => {
    const sale = toSale({ job: "job-4711" });
    const { network, asset, amount, payer, transaction } = sale;
    const payment = { network, asset, amount, payer, transaction };
    const store = await openStore({ dataDir: shop.dataDir });
    await store.enter(sale, { key: sale.id, value: 1 });
    const refund = { id: "job-4711", service: "toss", payment, openedAt: sale.at + 1, reason: null };
    await createRefundRecords(store).open({ ...refund, state: "manual" });
    await store.close();
    expect(await show("job-4711")).to.match(/Z +settled\n.*Z +failed: it waits to be paid back by hand\n/);
  });
});
