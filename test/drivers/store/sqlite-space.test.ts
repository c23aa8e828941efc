import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { createEntries, ENTRIES } from "../../../runtime/drivers/store/sqlite/entries.ts";
import { openSqliteStore } from "../../../runtime/drivers/store/sqlite/sqlite.ts";
import { createUpkeep } from "../../../runtime/drivers/store/sqlite/upkeep.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { listKeys } from "../../support/store/probes.ts";

describe("a store in a file from which much was deleted", () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = createFolder();
    file = join(folder, "payphone.sqlite");
  });

  const MB = 2 ** 20;
  const MANY = 800;
  const large = "x".repeat(10_000);
  const size = async (name = file): Promise<number> => (await stat(name)).size;
  const setMany = async (store: OpenStore): Promise<void> => {
    await Promise.all(Array.from({ length: MANY }, (_, at) => store.set(`large:${at}`, large)));
  };
  const deleteMany = async (store: OpenStore): Promise<void> => {
    await Promise.all(Array.from({ length: MANY }, (_, at) => store.delete(`large:${at}`)));
  };

  it("gives the space back to the disk, cuts its log, and keeps what is left", async () => {
    const store = await openSqliteStore({ file, upkeepMs: 5 });
    await store.set("kept", large);
    await setMany(store);
    await deleteMany(store);
    await eventually(async () => (await size()) < 2 * MB && (await size(`${file}-wal`)) === 0);
    expect(await store.get("kept")).to.equal(large);
    expect(await listKeys(store, "")).to.deep.equal(["kept"]);
    await store.close();
  });

  it("gives back what has expired, also after the clock was set back", async () => {
    let time = 1_000_000_000;
    const store = await openSqliteStore({ file, now: () => time, upkeepMs: 5 });
    await store.set("a", 0);
    time = 1_000_000;
    await Promise.all(Array.from({ length: 600 }, (_, at) => store.set(`large:${at}`, large, 1000)));
    await eventually(async () => (await size()) > 5 * MB); // Before, the log has it.
    time += 120_000;
    await store.set("a", 1);
    await eventually(async () => (await size()) < 2 * MB);
    await store.close();
  });

  it("lists what there is without reading what has expired behind it, as after weeks in which it stood still", async () => {
    const db = new DatabaseSync(file);
    db.exec(ENTRIES);
    const entries = createEntries(db, () => 1000);
    db.exec("BEGIN");
    for (let at = 0; at < 20_000; at += 1) entries.write(`payment:${at}`, "{}", 999);
    entries.write("open:1", "{}", null);
    const timeOf = (prefix: string): number => {
      const began = process.cpuUsage();
      for (let at = 0; at < 50; at += 1)
        expect(entries.list(prefix, undefined)).to.have.length(prefix === "open:" ? 1 : 0);
      const { user, system } = process.cpuUsage(began);
      return user + system;
    };
    timeOf("open:"); // Not counted: it is compiled.
    expect(timeOf("open:") / timeOf("payment:")).to.be.below(0.2);
    db.close();
  });

  it("serves while it gives space back, and while another process has it open", async () => {
    const [store, other] = [await openSqliteStore({ file, upkeepMs: 5 }), await openSqliteStore({ file, upkeepMs: 5 })];
    await setMany(store);
    await eventually(async () => (await size()) > 5 * MB);
    await deleteMany(other);
    let count = 0;
    await eventually(async () => {
      count = await store.incr("n");
      return (await size()) < 2 * MB;
    });
    expect(await other.get("n")).to.equal(count);
    await Promise.all([store.close(), other.close()]);
  });

  it("shrinks, too, when an earlier version has made it", async () => {
    const db = new DatabaseSync(file);
    db.exec(`PRAGMA journal_mode = WAL; CREATE TABLE entries (
      id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL, expires INTEGER) STRICT`);
    db.prepare("INSERT INTO entries (key, value) VALUES (?, ?)").run("kept", "1");
    db.close();
    const store = await openSqliteStore({ file, upkeepMs: 5 });
    await setMany(store);
    await deleteMany(store);
    await eventually(async () => (await size()) < 2 * MB);
    expect(await store.get("kept")).to.equal(1);
    await store.close();
  });

  it("is rewritten once at most to become able to shrink", async () => {
    const version = (): unknown => {
      const db = new DatabaseSync(file, { readOnly: true });
      const found = db.prepare("PRAGMA schema_version").get()?.schema_version; // VACUUM changes it.
      db.close();
      return found;
    };
    await (await openSqliteStore({ file })).close();
    const first = version();
    await (await openSqliteStore({ file })).close();
    expect(version()).to.equal(first);
  });

  it("is looked at again when the disk could not be read, which ends no process", async () => {
    let failures = 3;
    let cuts = 0;
    const cut = (): void => {
      cuts += 1;
    };
    const read = (): unknown => {
      if (failures-- > 0) throw new Error("disk I/O error");
      return { freelist_count: 0 };
    };
    const db = { prepare: () => ({ get: read }) } as unknown as DatabaseSync;
    const run = async (work: () => void): Promise<void> => work();
    const upkeep = createUpkeep({ db, run, cut, everyMs: 5 });
    upkeep.note(false);
    await eventually(() => cuts > 0);
    upkeep.close();
  });
});
