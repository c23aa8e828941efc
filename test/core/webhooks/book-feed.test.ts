import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createBookFeed } from "../../../runtime/core/webhooks/book-feed.ts";
import { createDeliveries } from "../../../runtime/core/webhooks/deliveries.ts";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import { openStore, storeFileOf } from "../../../runtime/drivers/store/open-store.ts";
import { toSale } from "../../support/books/sales.ts";
import { eventually } from "../../support/eventually.ts";

describe("the book that receivers of webhooks are told of", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "payphone-feed-"));
  after(() => rmSync(dataDir, { recursive: true }));

  it("is not told from its beginning when a buyer gives many calls the id of a later sale", async () => {
    const store = await openStore({ dataDir });
    const books = await openBooks({ file: storeFileOf(dataDir) });
    const told: string[] = [];
    const feed = createBookFeed({
      endpoints: [{ id: "accounts" }],
      openBooks: async () => books,
      outbox: { publishTo: async (_endpoint, { id }) => void told.push(id) },
      deliveries: createDeliveries(store),
      store,
      log: silentLog,
      everyMs: 1,
    });
    const [named, last] = [toSale(), toSale()]; // The id of a sale follows from its payment, which the buyer makes.
    const others = Array.from({ length: 210 }, () => toSale({ requestId: named.id }));
    const enter = async (...sales: ReturnType<typeof toSale>[]): Promise<void> => {
      for (const sale of sales) await store.enter(sale, { key: sale.id, value: 1 });
    };
    feed.start();
    await eventually(() => store.get("webhook-cursor:accounts"));
    await enter(...others, named);
    await eventually(() => told.includes(named.id));
    await enter(last);
    await eventually(() => told.includes(last.id));
    await feed.close();
    expect(told).to.deep.equal([...others, named, last].map(({ id }) => id));
    expect(books.find(named.id).map(({ id }) => id)).to.include(named.id);
    await books.close();
    await store.close();
  });
});
