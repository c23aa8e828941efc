import { expect } from "chai";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { TOSS } from "../../core/set/served-directory.ts";
import { toSale } from "../../support/books/sales.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";

describe("a search for what more sales have than are shown", () => {
  let shop: OperatedShop;
  const NAMED = toSale({ service: "toss" });
  before(async () => {
    shop = await openOperatedShop(TOSS);
    const store = await openStore({ dataDir: shop.dataDir });
    const enter = async (requestId: string | null, sale = toSale({ service: "toss", requestId })): Promise<void> =>
      store.enter(sale, { key: sale.id, value: 1, durability: "lazy" });
    await enter(null, NAMED);
    await enter(NAMED.id);
    for (let count = 0; count < 201; count += 1) await enter("of-an-agent");
    await enter("of-another");
    await store.close();
  });
  after(() => shop.close());

  const PART = "the oldest 200 lines at most";

  it("says so on the page", async () => {
    const read = async (text: string): Promise<string> => (await shop.admin(`/sales?q=${text}`)).text();
    expect(await read("of-an-agent")).to.include(PART);
    expect(await read("of-another")).not.to.include(PART);
  });

  it("says so on the command line", async () => {
    const show = async (text: string): Promise<string> =>
      (await runPayphone(["sales", "show", text, "--dir", shop.dir], { PAYPHONE_DATA_DIR: shop.dataDir })).err;
    expect(await show("of-an-agent")).to.include(PART);
    expect(await show("of-another")).not.to.include(PART);
  });

  it("shows beside a sale only what belongs to it, whatever request ids other buyers choose", async () => {
    const page = await (await shop.admin(`/sales/${NAMED.id}`)).text();
    expect(page).to.include("Sale of toss").and.not.include("What belongs to it");
    const other = await shop.admin("/sales/of-another");
    expect(other.status, "a request id is no sale's").to.equal(404);
  });
});
