import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createClient } from "@keyv/redis";
import { expect } from "chai";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import { bookStreamOf, tallyStreamOf } from "../../../runtime/drivers/books/streams.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { toSale } from "../../support/books/sales.ts";
import { createFolder } from "../../support/folder.ts";
import { withRedis } from "../../support/programs.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";

const sale = toSale({ at: Date.now() });
/** What is no event, and what a later version could write. */
const ENTRIES: readonly string[] = [
  '{"kind":"sale"',
  "null",
  "{}",
  JSON.stringify({ ...sale, id: "sale_1", kind: "dispute" }),
  JSON.stringify({ ...sale, id: "sale_3", at: "yesterday" }),
  JSON.stringify({ kind: "fee", id: "fee_1" }),
];

withRedis.describe("a book in Redis with entries that are damaged", () => {
  const data = createFolder();
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis?.stop());

  it("has all the others, before and after them, and says which entries it passes over", async () => {
    const store = await openStore({ dataDir: data, redisUrl: redis.url });
    const client = createClient({ url: redis.url });
    await client.connect();
    const stream = bookStreamOf("payphone");
    const ids: string[] = [];
    const enter = (key: string): Promise<void> => store.enter(toSale({ at: Date.now() }), { key, value: 1 });
    await enter("before");
    for (const e of ENTRIES) ids.push(await client.xAdd(stream, "*", { e }));
    ids.push(await client.xAdd(stream, "*", { event: "{}" }));
    for (const fields of [{ e: '[{"minute":' }, { event: "[]" }])
      ids.push(await client.xAdd(tallyStreamOf("payphone"), "*", fields));
    await enter("after");
    await client.close();

    const passed: string[] = [];
    const books = await openBooks({
      redisUrl: redis.url,
      namespace: "payphone",
      file: join(data, "book.sqlite"),
      onDamaged: (_, id) => passed.push(id),
    });
    for (const _ of [1, 2]) await books.refresh();
    const lines = books.lines({}, { limit: 20, order: "oldest-first" });
    await books.close();
    await store.close();
    expect(lines).to.have.length(2);
    expect(passed).to.deep.equal(ids);
  });

  it("is not blamed where this machine's copy takes no lines, as on a full disk", async () => {
    const file = join(data, "own.sqlite");
    const books = await openBooks({ redisUrl: redis.url, namespace: "payphone", file });
    const other = new DatabaseSync(file);
    other.exec("DROP TABLE book_lines");
    other.close();
    const refused = await books.refresh().catch((error: Error) => error);
    await books.close();
    expect(refused).to.include({
      code: "unavailable",
      message: `The copy of the book in ${file} cannot be written: no such table: book_lines`,
    });
  });
});
