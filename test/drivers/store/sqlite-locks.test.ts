import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { copySqlite } from "../../../runtime/drivers/store/sqlite/backup.ts";
import { openSqliteStore } from "../../../runtime/drivers/store/sqlite/sqlite.ts";
import { createFolder } from "../../support/folder.ts";
import { thrown } from "../../support/thrown.ts";

/** Removes the log, as other versions of SQLite do when they close a file that nobody else has locked. */
const TAKE = `const db = new (require("node:sqlite").DatabaseSync)(process.argv[1]);
  db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE");`;

describe("a store in a file stays locked against a program that would remove its log", () => {
  let folder: string;
  let file: string;
  let store: OpenStore;
  beforeEach(async () => {
    folder = createFolder();
    file = join(folder, "payphone.sqlite");
    store = await openSqliteStore({ file });
    await store.set("a", 1);
  });
  afterEach(() => store.close());

  for (const [what, openAnother] of [
    ["nothing else", undefined],
    ["the book", () => openBooks({ file })],
    ["another store", () => openSqliteStore({ file })],
  ] as const)
    it(`while its process has ${what} open there, too`, async () => {
      const another = await openAnother?.();
      const { status, stderr } = spawnSync(process.execPath, ["-e", TAKE, file], { encoding: "utf8" });
      expect([status, existsSync(`${file}-wal`)]).to.deep.equal([1, true]);
      expect(stderr).to.include("database is locked");
      await store.ping();
      await another?.close();
    });
});

describe("a store in a file that was lost while its log was left", () => {
  /** The files of a process that was killed. */
  async function leave(): Promise<{ readonly file: string; readonly whole: string }> {
    const [file, whole] = [join(createFolder(), "payphone.sqlite"), join(createFolder(), "payphone.sqlite")];
    const store = await openSqliteStore({ file });
    await store.set("a", 1);
    for (const end of ["", "-wal"]) copyFileSync(file + end, whole + end);
    await store.close();
    copyFileSync(`${whole}-wal`, `${file}-wal`);
    return { file, whole };
  }

  for (const [what, lose] of [
    ["missing", rmSync],
    ["empty", truncateSync],
  ] as const)
    it(`is not begun anew where it is ${what}: the log is kept, and the store whole once the file is back`, async () => {
      const { file, whole } = await leave();
      lose(file);
      const said = /payphone\.sqlite is missing or empty, but its log payphone\.sqlite-wal is there, .*: put payphone/;
      const copy = async () => copySqlite(file, `${whole}.copy`, undefined);
      for (const open of [
        () => openSqliteStore({ file }),
        copy,
        ...(what === "empty" ? [() => openBooks({ file })] : []),
      ])
        expect(await thrown(open()))
          .to.have.property("message")
          .that.matches(said);
      expect(existsSync(file)).to.equal(what === "empty");
      expect(readFileSync(`${file}-wal`)).to.deep.equal(readFileSync(`${whole}-wal`));
      copyFileSync(whole, file);
      const store = await openSqliteStore({ file });
      expect(await store.get("a")).to.equal(1);
      await store.close();
    });
});

/** Another process of the shop, which makes its own index of the log when there is none. */
const WRITE = `const db = new (require("node:sqlite").DatabaseSync)(process.argv[1]);
  const write = db.prepare("INSERT INTO entries (key, value) VALUES (?, ?)");
  for (let at = 0; at < 20; at += 1) write.run("sale:" + at, "1".repeat(1000));`;

/** A process whose store loses the index while it is open, and which ends after another one has written. */
const LOSE = `import { spawnSync } from "node:child_process";
  import { rmSync } from "node:fs";
  import { openSqliteStore } from ${JSON.stringify(import.meta.resolve("../../../runtime/drivers/store/sqlite/sqlite.ts"))};
  const [, file, write] = process.argv;
  const store = await openSqliteStore({ file });
  await store.set("a", 1);
  rmSync(file + "-shm");
  spawnSync(process.execPath, ["-e", write, file]);
  await store.close();`;

describe("a store in a file whose log has lost its index while it was open", () => {
  it("writes nothing more, says so, and leaves alone what another process has written, also when it closes", async () => {
    const folder = createFolder();
    const file = join(folder, "payphone.sqlite");
    const store = await openSqliteStore({ file, upkeepMs: 5 });
    await store.set("a", 1);
    rmSync(`${file}-shm`);
    const { status, stderr } = spawnSync(process.execPath, ["-e", WRITE, file], { encoding: "utf8" });
    expect(status, stderr).to.equal(0);
    const set = (durability: "durable" | "lazy") => thrown(store.set("b", "2".repeat(5000), undefined, durability));
    for (const durability of ["lazy", "durable"] as const)
      expect(await set(durability)).to.have.property("code", "unavailable");
    expect(await thrown(store.ping()))
      .to.have.property("message")
      .that.matches(/^The store takes no writes: payphone.sqlite-shm was removed or replaced/);
    await store.close();
    const copy = join(createFolder(), "payphone.sqlite");
    for (const end of ["", "-wal"]) copyFileSync(file + end, copy + end);
    const db = new DatabaseSync(copy);
    expect(db.prepare("SELECT count(*) AS sales FROM entries WHERE key LIKE 'sale:%'").get()).to.include({ sales: 20 });
    expect(db.prepare("PRAGMA integrity_check").get()).to.include({ integrity_check: "ok" });
    db.close();
  });

  it("leaves that alone also when its process ends by itself", () => {
    const file = join(createFolder(), "payphone.sqlite");
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", LOSE, file, WRITE]);
    expect(status, String(stderr)).to.equal(0);
    const db = new DatabaseSync(file);
    expect(db.prepare("SELECT count(*) AS sales FROM entries WHERE key LIKE 'sale:%'").get()).to.include({ sales: 20 });
    db.close();
  });
});
