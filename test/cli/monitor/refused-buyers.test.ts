import { expect } from "chai";
import { readRefusals } from "../../../runtime/core/notes/refusals.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { openOperatedShop } from "../../support/sellers/operator.ts";
import { json, stockFetch } from "../../support/sellers/stock-buyer.ts";

const DAY_MS = 24 * 60 * 60_000;

describe("the refused buyers of a shop whose set is changed", () => {
  it("are on one sheet of the process, since a day has a limited number of them for all processes", async () => {
    const shop = await openOperatedShop();
    const { swap, url } = shop.running;
    const pay = await stockFetch(shop.sandbox, "base");
    const refuse = async (): Promise<void> => {
      expect((await pay(`${url}/v1/toss`, json({ coins: 1000 }))).status).to.equal(422);
    };
    const day = Math.floor(Date.now() / DAY_MS);
    await refuse();
    await swap.change({ set: swap.current().set });
    await refuse();
    await shop.running.close(); // Writes what was noted.
    const store = await openStore({ dataDir: shop.dataDir });
    const [{ counts } = {}] = await readRefusals(store, Date.now());
    const second = await Promise.all([day, day + 1].map((each) => store.get(`refusals:${each}:1`)));
    await store.close();
    await shop.close();
    expect(counts).to.deep.equal({ "failed:invalid-input": 2 });
    expect(second).to.deep.equal([undefined, undefined]);
  });
});
