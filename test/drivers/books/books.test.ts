import { chownSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@keyv/redis";
import { expect } from "chai";
import { forgetBefore } from "../../../runtime/core/books/keeping.ts";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import { bookStreamOf, tallyStreamOf } from "../../../runtime/drivers/books/streams.ts";
import { openStore, storeFileOf } from "../../../runtime/drivers/store/open-store.ts";
import { itAsRoot } from "../../support/as-root.ts";
import { T, toSale } from "../../support/books/sales.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { withRedis } from "../../support/programs.ts";
import { startRedis, type TestRedis, untilPinged } from "../../support/store/redis.ts";
import { startRedisProxy } from "../../support/store/redis-proxy.ts";
import { testBooks } from "./suite.ts";

const HOUR_MS = 3_600_000;
/** The start of a day. */
const DAY = T - 12 * HOUR_MS;

describe("the books", () => {
  let redis: TestRedis | undefined;
  after(() => redis?.stop());

  describe("in the embedded store", () => {
    testBooks(async () => {
      const dataDir = createFolder();
      const store = await openStore({ dataDir });
      return { store, books: await openBooks({ file: storeFileOf(dataDir) }) };
    });

    it("forgets the lines that are older than it is told, and nothing else", async () => {
      const dataDir = createFolder();
      const store = await openStore({ dataDir });
      const sale = toSale();
      const old = sale.at - 3_600_000;
      for (let at = 0; at < 600; at += 1)
        await store.enter(toSale({ at: old, payer: "0xold" }), { key: "p", value: 1 });
      await store.enter(sale, { key: "p", value: 1 });
      let steps = 1;
      while (await store.forget(sale.at, 0)) steps += 1;
      expect(steps).to.be.within(2, 9);
      await store.close();
      const books = await openBooks({ file: storeFileOf(dataDir) });
      expect(books.since(0, 10).map(({ id }) => id)).to.deep.equal([sale.id]);
      expect(books.buyers(9).map(({ payer }) => payer)).to.deep.equal(["0xaa"]);
      await books.close();
    });

    it("forgets whole days, so that the sums of a day are those of its lines", async () => {
      const dataDir = createFolder();
      const store = await openStore({ dataDir });
      const hours = [1, 23, 40].map((hour) => DAY + hour * HOUR_MS);
      for (const at of hours) await store.enter(toSale({ at }), { key: "p", value: 1 });
      for (const now of [36, 47, 49].map((hour) => DAY + hour * HOUR_MS)) {
        while (await store.forget(forgetBefore({ keep_days: 1 }, now), 0));
        const books = await openBooks({ file: storeFileOf(dataDir) });
        const lines = books.lines({}, { limit: 9, order: "oldest-first" }).length;
        const summed = books.sums({ from: DAY, to: DAY + 48 * HOUR_MS }, { own: [], by: [] })[0]?.count;
        expect([lines, summed]).to.deep.equal(now < DAY + 48 * HOUR_MS ? [3, 3] : [1, 1]);
        await books.close();
      }
      await store.close();
    });

    it("cannot be opened where there is no store", async () => {
      const error = await openBooks({ file: join(createFolder(), "none.sqlite") }).catch((reason: unknown) => reason);
      expect(error).to.have.property("code", "unavailable");
    });
  });

  withRedis.describe("in Redis", () => {
    let redisUrl: string;
    before(async () => {
      redis = await startRedis();
      redisUrl = redis.url;
    });
    const connect = async () => createClient({ url: redisUrl }).connect();
    const flush = async (): Promise<void> => {
      const client = await connect();
      await client.flushAll();
      await client.close();
    };
    /** As a replica that becomes the master before it has the newest entry. */
    const forgetNewest = async (): Promise<void> => {
      const client = await connect();
      const [newest] = await client.xRevRange(bookStreamOf("payphone"), "+", "-", { COUNT: 1 });
      expect(await client.xDel(bookStreamOf("payphone"), newest?.id ?? "")).to.equal(1);
      await client.close();
    };
    const read = (file: string, isGentle = false) => openBooks({ redisUrl, namespace: "payphone", file, isGentle });

    itAsRoot("has a copy that is its folder's user's, also when root has made it with `payphone sales`", async () => {
      const folder = createFolder();
      chownSync(folder, 65_534, 65_533);
      const file = join(folder, "book.sqlite");
      const books = await read(file);
      await books.refresh();
      for (const path of [file, `${file}-wal`]) expect(statSync(path)).to.include({ uid: 65_534, gid: 65_533 });
      await books.close();
    });

    testBooks(async () => {
      await flush();
      const dataDir = createFolder();
      const store = await openStore({ dataDir, redisUrl });
      return { store, books: await read(join(dataDir, "books.sqlite")) };
    });

    it("has read what was entered before it was asked to, also when it was reading already", async () => {
      const folder = createFolder();
      const store = await openStore({ dataDir: folder, redisUrl });
      const proxy = await startRedisProxy(redisUrl);
      const file = join(folder, "book.sqlite");
      const books = await openBooks({ redisUrl: proxy.url, namespace: "payphone", file });
      const sale = toSale();
      const asked = Promise.withResolvers<void>();
      proxy.intervene((words) => {
        if (!words.includes(tallyStreamOf("payphone"))) return "pass";
        proxy.intervene(() => "pass");
        proxy.pause(); // It has all sales that were there.
        const enter = store.enter(sale, { key: "p", value: 1 });
        asked.resolve(enter.then(() => queueMicrotask(proxy.resume)).then(() => books.refresh()));
        return "pass";
      });
      await Promise.all([books.refresh(), asked.promise]);
      expect(books.find(sale.id).map(({ id }) => id)).to.deep.equal([sale.id]);
      await Promise.all([books.close(), store.close(), proxy.stop()]);
    });

    it("is closed at once while it is being copied", async () => {
      const store = await openStore({ dataDir: createFolder(), redisUrl });
      await Promise.all(Array.from({ length: 300 }, () => store.enter(toSale(), { key: "p", value: 1 })));
      const books = await read(join(createFolder(), "book.sqlite"), true);
      const refused = books.refresh().catch((error: unknown) => error);
      await books.close();
      expect(await refused).to.have.property("code", "unavailable");
      await store.close();
    });

    it("keeps its connection while nobody asks: it would be replaced again and again, and not be there in between", async () => {
      const quiet = await startRedis();
      const file = join(createFolder(), "books.sqlite");
      const books = await openBooks({ redisUrl: quiet.url, namespace: "payphone", file });
      await untilPinged(quiet.url);
      await books.close();
      await quiet.stop();
    });

    it("leaves no connection behind where its copy cannot be written, however often it is asked for", async () => {
      const client = await connect();
      const count = async (): Promise<number> => (await client.clientList()).length;
      const before = await count();
      for (let time = 0; time < 3; time += 1)
        expect(String(await read(createFolder()).catch((error: unknown) => error))).to.include("cannot be opened");
      await eventually(async () => (await count()) === before);
      await client.close();
    });

    it("loses in a copy only what the stream has lost, whatever the reader's folder says about how long sales are kept", async () => {
      await flush();
      const dataDir = createFolder();
      const store = await openStore({ dataDir, redisUrl });
      for (const key of ["one", "two"]) await store.enter(toSale({ at: Date.now() }), { key, value: 1 });
      const before = Date.now() + 48 * HOUR_MS;
      const count = async (): Promise<number> => {
        const forget = () => ({ before, tallyMinute: 0 });
        const books = await openBooks({ redisUrl, namespace: "payphone", file: join(dataDir, "copy.sqlite"), forget });
        await books.refresh();
        const lines = books.lines({}, { limit: 9, order: "oldest-first" });
        await books.close();
        return lines.length;
      };
      expect(await count()).to.equal(2);
      while (await store.forget(before, 0));
      expect(await count(), "the newest is kept").to.equal(1);
      await store.close();
    });

    it("is made anew where its tables are lost, and counted once by two readers of one file", async () => {
      await flush();
      const dataDir = createFolder();
      const file = join(dataDir, "books.sqlite");
      const store = await openStore({ dataDir, redisUrl });
      const sales = Array.from({ length: 205 }, () => toSale()); // More than one step of a gentle reader.
      await Promise.all(sales.map((sale) => store.enter(sale, { key: `payment:${sale.id}`, value: 1 })));
      const readers = [await read(file), await read(file, true)];
      await Promise.all(readers.map((books) => books.refresh()));
      const count = (at: number): number => readers[at]!.sums({ from: 0, to: 2e12 }, { own: [], by: [] })[0]!.count;
      expect([count(0), count(1)]).to.deep.equal([205, 205]);
      await Promise.all(readers.map((books) => books.close()));
      for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
      readers[0] = await read(file, true);
      await readers[0].refresh();
      expect(count(0)).to.equal(205);
      await flush();
      await store.enter(toSale(), { key: "payment:new", value: 1 });
      await readers[0].refresh();
      expect(count(0), "that Redis was replaced").to.equal(1);
      await readers[0].close();
      await store.close();
    });

    it("is kept beside the new one where Redis has lost its data: nobody else may have these lines", async () => {
      await flush();
      const dataDir = createFolder();
      const store = await openStore({ dataDir, redisUrl });
      const sale = toSale();
      await store.enter(sale, { key: "payment:old", value: 1 });
      const books = await read(join(dataDir, "book.sqlite"));
      await books.refresh();
      await flush();
      await books.refresh();
      await flush();
      await books.refresh();
      expect(books.find(sale.id)).to.deep.equal([]);
      await books.close();
      await store.close();
      const kept = readdirSync(dataDir).filter((name) => name.startsWith("book.sqlite.lost-"));
      expect(kept, "an empty one is not kept").to.have.length(1);
      const file = storeFileOf(createFolder());
      renameSync(join(dataDir, kept[0] as string), file);
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      const lost = await openBooks({ file });
      await lost.refresh();
      expect(lost.lines({}, { limit: 9, order: "oldest-first" }).map(({ id }) => id)).to.deep.equal([sale.id]);
      await lost.close();
    });

    it("is made anew, and kept beside the new one, where a replica that lacked its newest entries is the master now", async () => {
      await flush();
      const dataDir = createFolder();
      const store = await openStore({ dataDir, redisUrl });
      const [old, lost, fresh] = [toSale(), toSale(), toSale()];
      const books = await read(join(dataDir, "book.sqlite"));
      const find = (): string[] => [old, lost, fresh].flatMap(({ id }) => books.find(id).map((line) => line.id));
      for (const sale of [old, lost]) await store.enter(sale, { key: `payment:${sale.id}`, value: 1 });
      await books.refresh();
      expect(find()).to.deep.equal([old.id, lost.id]);
      await forgetNewest();
      await store.enter(fresh, { key: "payment:fresh", value: 1 });
      for (const _ of ["read anew", "read on"]) await books.refresh();
      expect(find()).to.deep.equal([old.id, fresh.id]);
      await books.close();
      await store.close();
      expect(readdirSync(dataDir).filter((name) => name.startsWith("book.sqlite.lost-"))).to.have.length(1);
    });
  });
});
