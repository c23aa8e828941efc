import { copyFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import type { BookLine, Books } from "../../../runtime/core/books/books.ts";
import { prepareTables } from "../../../runtime/drivers/books/migration.ts";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import { createBookTables } from "../../../runtime/drivers/books/tables.ts";
import { transact } from "../../../runtime/drivers/books/transactions.ts";
import { openStore, storeFileOf } from "../../../runtime/drivers/store/open-store.ts";
import { toSale } from "../../support/books/sales.ts";
import { createFolder } from "../../support/folder.ts";
import { withRedis } from "../../support/programs.ts";
import { startRedis } from "../../support/store/redis.ts";

const ALL = { from: 0, to: 4e12 };

/** What every book must be, whatever happened to it. @returns how many sales it has */
function checkWhole(books: Books, label: string): number {
  const lines = books.since(0, 5000);
  const ids = new Set(lines.map(({ id }) => id));
  const summed = books.sums(ALL, { own: [], by: [] }).reduce((all, { count }) => all + count, 0);
  const bought = books.buyers(9).reduce((all, { count }) => all + count, 0);
  const paged = books.lines({}, { limit: 5000, order: "oldest-first" });
  const counts = { ids: ids.size, summed, bought, paged: paged.length };
  expect(counts, label).to.deep.equal({
    ids: lines.length,
    summed: lines.length,
    bought: lines.length,
    paged: lines.length,
  });
  return lines.length;
}

describe("a book to which something happens", () => {
  const folder = createFolder();
  let made = 0;
  const newPlace = (): string => join(folder, `${++made}`);

  const openTables = (file: string) => {
    const db = new DatabaseSync(file);
    db.exec("PRAGMA journal_mode = WAL");
    prepareTables(db);
    return { db, book: createBookTables(db) };
  };

  it("knows the terms of a sale whose first entry was rolled back", async () => {
    const { db, book } = openTables(join(folder, "undone.sqlite"));
    const [first, second] = [toSale({ service: "later" }), toSale({ service: "later" })];
    const enterBoth = (isUndone: boolean) => (): void => {
      for (const sale of [first, second]) book.enter(sale);
      if (isUndone) throw new Error("no room");
    };
    expect(() => transact(db, enterBoth(true))).to.throw("no room");
    for (const _ of [1, 2, 3]) {
      await null; // Another turn: what the last one has added is there, or is not.
      transact(db, enterBoth(false));
    }
    transact(db, book.show);
    const services = "SELECT service FROM book_lines l LEFT JOIN book_terms t ON t.id = l.terms";
    expect(
      db
        .prepare(services)
        .all()
        .map(({ service }) => service),
    ).to.deep.equal(["later", "later"]);
    db.close();
  });

  it("is whole when its write-ahead log was cut off anywhere", async () => {
    const file = join(folder, "cut.sqlite");
    const { db, book } = openTables(file);
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    for (let at = 0; at < 40; at += 1) {
      transact(db, () => book.enter(toSale()));
      if (at % 7 === 6) transact(db, () => book.show());
    }
    const { size } = statSync(`${file}-wal`);
    const copy = join(folder, "copy.sqlite");
    const found: number[] = [];
    for (const part of [0, 0.1, 0.25, 0.4, 0.5, 0.75, 0.9, 1]) {
      for (const end of ["", "-wal"]) copyFileSync(file + end, copy + end);
      rmSync(`${copy}-shm`, { force: true });
      truncateSync(`${copy}-wal`, Math.floor(size * part));
      const books = await openBooks({ file: copy });
      await books.refresh();
      found.push(checkWhole(books, `${part} of the log`));
      await books.close();
    }
    db.close();
    expect(found).to.deep.equal(found.toSorted((one, other) => one - other));
    expect([found[0], found.at(-1)]).to.deep.equal([0, 40]);
  });

  it("shows each sale once, whoever shows it, and however often it was entered meanwhile", async () => {
    const dataDir = newPlace();
    const store = await openStore({ dataDir });
    const sales = Array.from({ length: 30 }, () => toSale());
    const enter = () => Promise.all(sales.map((sale) => store.enter(sale, { key: `p:${sale.id}`, value: 1 })));
    await Promise.all([enter(), enter()]);
    const readers = await Promise.all([1, 2, 3].map(() => openBooks({ file: storeFileOf(dataDir) })));
    await Promise.all(readers.map((books) => books.refresh()));
    await enter();
    await Promise.all(readers.map((books) => books.refresh()));
    for (const books of readers) expect(checkWhole(books, "a reader")).to.equal(30);
    await store.enter(toSale(), { key: "p:new", value: 1 }); // It has the number that a repeated line gave back.
    await readers[0]?.refresh();
    expect(checkWhole(readers[1] as Books, "another reader")).to.equal(31);
    await Promise.all(readers.map((books) => books.close()));
    await store.close();
  });

  it("shows very many sales in steps, which other processes go on with, are undone by, and enter sales between", async () => {
    const file = join(folder, "rounds.sqlite");
    const [one, other] = [openTables(file), openTables(file)];
    const sales = Array.from({ length: 2500 }, () => toSale());
    const enter = (some: typeof sales): void => {
      transact(one.db, () => {
        for (const sale of some) one.book.enter(sale);
      });
    };
    enter([...sales, ...sales.slice(0, 700), ...sales.slice(-3)]); // The last ones have numbers that are given again.
    const books = await openBooks({ file });
    const shown: number[] = [];
    for (let left = "round", turn = 0; left !== "nothing"; turn += 1) {
      const { db, book } = turn % 2 === 0 ? one : other;
      const undo = (): void => {
        book.show();
        throw new Error("undone");
      };
      expect(() => transact(db, undo)).to.throw("undone");
      left = transact(db, book.show);
      shown.push(checkWhole(books, `turn ${turn}`));
      if (turn >= 4 && turn < 14) enter([toSale()]); // The step before has removed the repeated lines.
    }
    expect(new Set(shown).size, "more and more").to.be.within(3, 9);
    expect(shown).to.deep.equal(shown.toSorted((less, more) => less - more));
    const [first, last] = [sales[0], sales.at(-1)].map((sale) => books.find(sale?.id ?? "").length);
    expect([first, last, shown.at(-1)]).to.deep.equal([1, 1, 2510]);
    await books.close();
    for (const { db } of [one, other]) db.close();
  });

  it("has all or nothing of a step for which the disk had no room", async () => {
    const file = join(folder, "full.sqlite");
    const { db, book } = openTables(file);
    transact(db, () => {
      for (let at = 0; at < 400; at += 1) book.enter(toSale());
    });
    const { page_count: pages } = db.prepare("PRAGMA page_count").get() as { page_count: number };
    db.exec(`PRAGMA max_page_count = ${pages + 4}`);
    expect(() => transact(db, () => book.show())).to.throw(/full/);
    db.exec("PRAGMA max_page_count = 100000");
    transact(db, () => book.enter(toSale()));
    const books = await openBooks({ file });
    expect(checkWhole(books, "before"), "nothing is shown by halves").to.equal(0);
    await books.refresh();
    expect(checkWhole(books, "after")).to.equal(401);
    await books.close();
    db.close();
  });

  it("says that it cannot be read up to now while another process keeps the lock, and can afterwards", async () => {
    const file = join(folder, "locked.sqlite");
    const { db, book } = openTables(file);
    transact(db, () => book.enter(toSale()));
    const books = await openBooks({ file });
    db.exec("BEGIN IMMEDIATE");
    const refused = await books.refresh().catch((error: unknown) => error);
    expect(refused).to.have.property("code", "unavailable");
    expect(books.lines({}, { limit: 9, order: "oldest-first" }), "what was shown before is read").to.have.length(0);
    db.exec("COMMIT");
    await books.refresh();
    expect(checkWhole(books, "unlocked")).to.equal(1);
    await books.close();
    db.close();
  });

  it("gives an export that old lines are taken from each of the others once", async () => {
    const dataDir = newPlace();
    const store = await openStore({ dataDir });
    const start = toSale().at;
    await Promise.all(
      Array.from({ length: 60 }, (_, at) => store.enter(toSale({ at: start + at }), { key: `p:${at}`, value: 1 })),
    );
    const books = await openBooks({ file: storeFileOf(dataDir) });
    await books.refresh();
    const seen: number[] = [];
    for (let after: BookLine | undefined, turn = 0; ; turn += 1) {
      const page = books.lines({}, { limit: 10, order: "oldest-first", after });
      seen.push(...page.map(({ at }) => at - start));
      after = page.at(-1);
      if (page.length < 10) break;
      if (turn === 1) while (await store.forget(start + 35, 0));
    }
    expect(seen).to.deep.equal([...Array(20).keys(), ...Array.from({ length: 25 }, (_, at) => 35 + at)]);
    while (await store.forget(start + 1000, 0));
    const last = books.since(0, 9);
    expect(
      last.map(({ at }) => at - start),
      "the newest stays, so that no number is given twice",
    ).to.deep.equal([59]);
    await store.enter(toSale(), { key: "p:next", value: 1 });
    await books.refresh();
    expect(books.since(last[0]?.seq ?? 0, 9)).to.have.length(1);
    await books.close();
    await store.close();
  });

  it("forgets a long past a little at a time: each step keeps all calls waiting", () => {
    const { db, book } = openTables(":memory:");
    const [{ at: start }, hours] = [toSale(), [...Array(1200).keys()]];
    book.take(hours.map((hour) => toSale({ at: start + hour * 3_600_000, payer: `0x${hour}` })));
    const count = (name: string) => db.prepare(`SELECT count(*) AS count FROM ${name}`).get()?.count as number;
    const sizes = () => ["book_payers", "book_sums", "book_visits", "book_counts"].map(count);
    book.count(hours.map((minute) => ({ minute, service: "roll", door: "rest", rail: "", what: "free", count: 1 })));
    for (let [known, isMore] = [sizes(), true]; isMore; ) {
      isMore = book.forget(start + 1200 * 3_600_000, 1440);
      const now = sizes();
      for (const [at, size] of now.entries()) expect(known[at]! - size).to.be.at.most(500);
      known = now;
    }
    expect(sizes()).to.deep.equal([1, 1, 0, 0]);
    db.close();
  });
});

withRedis.describe("a book in Redis whose process stands still while it is read", () => {
  it("is read from what Redis has answered meanwhile", async () => {
    const redis = await startRedis();
    const dataDir = createFolder();
    const store = await openStore({ dataDir, redisUrl: redis.url });
    const books = await openBooks({ redisUrl: redis.url, namespace: "payphone", file: join(dataDir, "book.sqlite") });
    const sale = toSale();
    await store.enter(sale, { key: "p:1", value: 1 });
    const failure = books.refresh().catch((error: Error) => error.message);
    await new Promise((done) => setImmediate(done)); // By now it has asked.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
    expect(await failure).to.equal(undefined);
    expect(books.find(sale.id)).to.have.length(1);
    await books.close();
    await store.close();
    await redis.stop();
  });
});
