import { expect } from "chai";
import { createRefundRecords } from "../../../runtime/core/refunds/records.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { TOSS } from "../../core/set/served-directory.ts";
import { toSale } from "../../support/books/sales.ts";
import { eventually } from "../../support/eventually.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { damage } from "../../support/store/damage.ts";

describe("what a seller's page says is owed", () => {
  let shop: OperatedShop;
  before(async () => {
    shop = await openOperatedShop(TOSS);
  });
  after(() => shop.close());

  /** The tile, once it says this. */
  const untilOwed = (text: string): Promise<string> =>
    eventually(
      async () => (await shop.admin("/")).text(),
      (page) => page.includes(`<dt>Owed back</dt><dd>${text}<`),
      200,
    );

  it("is never nothing while it cannot be read", async () => {
    const store = await openStore({ dataDir: shop.dataDir });
    for (const id of ["one", "two"]) {
      const payment = toSale() as never;
      await createRefundRecords(store).open({
        id,
        service: "toss",
        payment,
        openedAt: 1,
        state: "manual",
        reason: null,
      });
    }
    await store.close();
    expect(await untilOwed("2")).to.include("2 refunds wait to be paid by hand");
    damage(shop.dataDir, "refund:two");
    expect(await untilOwed("2"), "a damaged one is owed, too").to.include("2 refunds wait to be paid by hand");
    damage(shop.dataDir, `refund:${"x".repeat(600)}`); // No key of the store: the list breaks off.
    expect(await untilOwed("?")).to.include("What is owed cannot be read");
  });
});
