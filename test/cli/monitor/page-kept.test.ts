import { expect } from "chai";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { edit, TOSS } from "../../core/set/served-directory.ts";
import { toSale } from "../../support/books/sales.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";

const DAY_MS = 86_400_000;
const SHOP = edit(TOSS, "manifests/_site.yaml", "limits:\n", "books: { keep_days: 150 }\nlimits:\n");

describe("the seller's pages of a month of which not all is kept", () => {
  let shop: OperatedShop;
  const now = Date.now();
  /** The month of so many days ago. */
  const monthOf = (days: number): string => new Date(now - days * DAY_MS).toISOString().slice(0, 7);
  before(async () => {
    shop = await openOperatedShop(SHOP);
    const store = await openStore({ dataDir: shop.dataDir });
    for (const days of [149, 89]) {
      const at = now - days * DAY_MS;
      const sale = toSale({ at, service: "toss", usd: "5" });
      await store.enter(sale, { key: sale.id, value: 1 });
      await store.count([
        { minute: Math.floor(at / 60_000), service: "toss", door: "rest", rail: "", what: "challenge", count: 3 },
      ]);
    }
    await store.close();
  });
  after(() => shop.close());

  const read = async (path: string): Promise<string> => (await shop.admin(path)).text();

  it("never call it no calls: a dash, and a sentence that says from when on they are counted", async () => {
    const month = monthOf(120);
    const since = new Date(now - 90 * DAY_MS).toISOString().slice(0, 10);
    const today = await read(`/?month=${month}`);
    expect(today)
      .to.match(/<dt>Calls<\/dt><dd>–</)
      .and.to.match(/<dt>Failed calls<\/dt><dd>–</);
    for (const path of ["/", "/funnel", "/services", "/services/toss"]) {
      const page = await read(`${path}?month=${month}`);
      expect(page, path).to.include(`Calls are counted for 90 days: those before ${since}`);
      expect(page, path).not.to.include("Told the price");
      expect(await read(`${path}?days=7`), path).not.to.include("Calls are counted for 90 days");
    }
    expect(await read(`/services?month=${month}`)).to.match(/toss<\/a><\/td><td>\$0.01<\/td><td>–<\/td>/);
    expect(await read("/funnel?days=30")).to.include("Told the price");
  });

  it("say from when on sales are kept, where books.keep_days takes some of them out", async () => {
    const since = new Date(Math.floor(now / DAY_MS - 150) * DAY_MS).toISOString().slice(0, 10);
    for (const path of ["/", "/services", "/services/toss"])
      expect(await read(`${path}?month=${monthOf(180)}`), path).to.include(`Sales before ${since} are not kept`);
    expect(await read("/?days=30")).not.to.include("are not kept");
  });
});
