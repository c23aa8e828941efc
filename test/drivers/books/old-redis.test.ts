import { join } from "node:path";
import { createClient } from "@keyv/redis";
import { expect } from "chai";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import { bookStreamOf, tallyStreamOf } from "../../../runtime/drivers/books/streams.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { toSale } from "../../support/books/sales.ts";
import { createFolder } from "../../support/folder.ts";
import { withRedis } from "../../support/programs.ts";
import { startRedis } from "../../support/store/redis.ts";
import { startRedisProxy } from "../../support/store/redis-proxy.ts";

/** What the commands of streams have had since Redis 6.2 only: ranges without their first entry, and MINID of XTRIM. */
const isNew = (words: readonly string[]): boolean => words.some((word) => word === "MINID" || /^\(\d/.test(word));

withRedis.describe("a book in a Redis 6.0, as Ubuntu 22.04 has it", () => {
  it("is read to its last sale, and its old entries are deleted", async () => {
    const redis = await startRedis();
    const client = createClient({ url: redis.url });
    await client.connect();
    const streams = [tallyStreamOf("payphone"), bookStreamOf("payphone")] as const;
    await Promise.all(Array.from({ length: 1200 }, (_, at) => client.xAdd(streams[0], `${at + 1}-0`, { e: "[]" })));
    const lengths = () => Promise.all(streams.map((stream) => client.xLen(stream)));
    const proxy = await startRedisProxy(redis.url);
    proxy.intervene((words) => (isNew(words) ? "refuse" : "pass"));
    const dataDir = createFolder();
    const store = await openStore({ dataDir, redisUrl: proxy.url });
    const books = await openBooks({ redisUrl: proxy.url, namespace: "payphone", file: join(dataDir, "book.sqlite") });
    const sales = [toSale(), toSale(), toSale()];
    for (const sale of sales) {
      await store.enter(sale, { key: sale.id, value: 1 });
      await books.refresh(); // From the place of the sale before on.
    }
    await store.count([]);
    const lines = books.lines({}, { limit: 9, order: "oldest-first" });
    expect(lines.map(({ id }) => id)).to.have.members(sales.map(({ id }) => id));

    while (await store.forget(0, 1));
    expect(await lengths(), "the newest tallies, and all sales").to.deep.equal([1, 3]);
    while (await store.forget(4e12, 1));
    expect(await lengths()).to.deep.equal([1, 0]);
    await client.close();
    await books.close();
    await store.close();
    await proxy.stop();
    await redis.stop();
  });
});
