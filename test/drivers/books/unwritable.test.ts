import { chmodSync, copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createClient } from "@keyv/redis";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import { openStore, storeFileOf } from "../../../runtime/drivers/store/open-store.ts";
import { toSale, toSpent } from "../../support/books/sales.ts";
import { createFolder } from "../../support/folder.ts";
import { withRedis } from "../../support/programs.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";

const NOBODY = 65_534;

/** Acts as somebody who may read a folder and not write it. Root may write everything, and is somebody else meanwhile. */
async function asReader<T>(folder: string, work: () => Promise<T>): Promise<T> {
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o444);
  chmodSync(folder, 0o555);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder, 0o755);
  }
}

/** The ids of the lines, and what was spent, as somebody reads them who cannot write. */
const read = (dataDir: string): Promise<{ readonly ids: readonly string[]; readonly spent: readonly bigint[] }> =>
  asReader(dataDir, async () => {
    const books = await openBooks({ file: storeFileOf(dataDir) });
    await books.refresh();
    const lines = books.lines({}, { limit: 100, order: "oldest-first" });
    const spent = books.feeSums({ from: 0, to: 4e12 }).map(({ amount }) => amount);
    for (const { transaction, id } of lines) expect(books.find(transaction).map((line) => line.id)).to.deep.equal([id]);
    await books.close();
    return { ids: lines.map(({ id }) => id), spent };
  });

describe("a book in a folder that cannot be written", () => {
  let parent: string;
  let dataDir: string;
  beforeEach(() => {
    parent = createFolder();
    chmodSync(parent, 0o755);
    dataDir = join(parent, "data # 100%");
  });
  const sales = ["one", "two"].map(() => toSale());
  const whole = { ids: sales.map(({ id }) => id), spent: [21_000n] };
  const sell = async () => {
    const store = await openStore({ dataDir });
    for (const event of [...sales, toSpent("0xfee")]) await store.enter(event, { key: event.id, value: 1 });
    return store;
  };

  it("is read to its last sale after the server has stopped, and nothing is written there", async () => {
    await (await sell()).close();
    const before = readdirSync(dataDir);
    expect(await read(dataDir)).to.deep.equal(whole);
    expect(readdirSync(dataDir)).to.deep.equal(before);
  });

  it("is read to its last sale beside a running server", async () => {
    const store = await sell();
    expect(await read(dataDir)).to.deep.equal(whole);
    await store.close();
  });

  it("is not read without the log that has the newest sales", async () => {
    const store = await sell();
    const copy = join(parent, "copy");
    mkdirSync(copy);
    for (const end of ["", "-wal"]) copyFileSync(storeFileOf(dataDir) + end, storeFileOf(copy) + end);
    await store.close();
    const error = await read(copy).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Problem).with.property("message").that.includes("copy ").and.includes(dirname(copy));
    expect(await openBooks({ file: storeFileOf(copy) }).then((books) => books.close()), "its owner can").to.equal(
      undefined,
    );
  });
});

withRedis.describe("a book in a Redis that takes no writes", () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis?.stop());

  for (const [setting, value] of [
    ["maxmemory", "1"],
    ["min-replicas-to-write", "1"],
  ] as const)
    it(`is read to its last sale: ${setting} ${value}`, async () => {
      const dataDir = createFolder();
      const store = await openStore({ dataDir, redisUrl: redis.url });
      const sale = toSale();
      await store.enter(sale, { key: sale.id, value: 1 });
      const client = createClient({ url: redis.url });
      await client.connect();
      const books = await openBooks({ redisUrl: redis.url, namespace: "payphone", file: join(dataDir, "book.sqlite") });
      await books.refresh(); // The book has its name by now.
      const newest = toSale();
      await store.enter(newest, { key: newest.id, value: 1 });
      await client.configSet(setting, value);
      const refused = await client.set("more", 1).catch((error: Error) => error.message);
      const failure = await books.refresh().catch((error: Error) => error.message);
      const found = books.find(newest.id);
      await client.configSet(setting, "0");
      await client.close();
      await books.close();
      await store.close();
      expect(refused).to.match(/^(?:OOM|NOREPLICAS)/);
      expect(failure).to.equal(undefined);
      expect(found).to.have.length(1);
    });
});
