import fs, { statSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { openSqliteStore } from "../../../runtime/drivers/store/sqlite/sqlite.ts";
import { type LogFile, openLogFile, shareSyncs } from "../../../runtime/drivers/store/sqlite/sync.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";

const { fdatasync } = fs;

/** How often a file is synced from now on; until `stopCounting`. */
function countSyncs(): () => number {
  let count = 0;
  fs.fdatasync = ((...args: Parameters<typeof fdatasync>): void => {
    count += 1;
    fdatasync(...args);
  }) as typeof fdatasync;
  syncBuiltinESMExports();
  return () => count;
}

function stopCounting(): void {
  fs.fdatasync = fdatasync;
  syncBuiltinESMExports();
}

const FAULT = new Error("EIO");
const thrown = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "synced",
    (error: unknown) => error,
  );
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

describe("a log that is synced", () => {
  let ends: PromiseWithResolvers<void>[];
  let renewals: number;
  let refuse: Error | undefined;
  let syncs: LogFile;
  beforeEach(() => {
    [ends, renewals, refuse] = [[], 0, undefined];
    const log: LogFile = {
      sync() {
        const end = Promise.withResolvers<void>();
        ends.push(end);
        return end.promise;
      },
      renew() {
        if (refuse) throw refuse;
        renewals += 1;
      },
      check() {},
      close() {},
    };
    syncs = shareSyncs(log);
  });

  it("is synced by one at a time, and by the next for all that came meanwhile", async () => {
    const first = syncs.sync();
    const later = [syncs.sync(), syncs.sync()];
    expect(ends).to.have.lengthOf(1);
    ends[0]?.resolve();
    await first;
    await turn();
    expect(ends, "what was committed after a sync began is not in it").to.have.lengthOf(2);
    const last = syncs.sync();
    ends[1]?.resolve();
    await Promise.all(later);
    await turn();
    ends[2]?.resolve();
    await last;
    expect([ends.length, renewals]).to.deep.equal([3, 0]);
  });

  it("is begun anew after a failure, before anything is built upon it", async () => {
    const failed = [syncs.sync(), syncs.sync()].map(thrown);
    ends[0]?.reject(FAULT);
    expect(await failed[0]).to.equal(FAULT);
    await turn();
    expect([ends.length, renewals]).to.deep.equal([2, 1]);
    ends[1]?.resolve();
    expect(await failed[1]).to.equal("synced");
    const after = syncs.sync();
    ends[2]?.resolve();
    await after;
    expect(renewals).to.equal(1);
  });

  it("is not synced while it cannot be begun anew", async () => {
    const failed = thrown(syncs.sync());
    ends[0]?.reject(FAULT);
    await failed;
    refuse = new Error("busy");
    expect(await thrown(syncs.sync())).to.equal(refuse);
    expect(ends).to.have.lengthOf(1);
    refuse = undefined;
    const synced = thrown(syncs.sync());
    ends[1]?.resolve();
    expect([await synced, renewals]).to.deep.equal(["synced", 1]);
  });
});

describe("the write-ahead log of a database", () => {
  let folder: string;
  let file: string;
  let db: DatabaseSync;
  beforeEach(() => {
    folder = createFolder();
    file = join(folder, "state.sqlite");
    db = new DatabaseSync(file);
    db.exec("PRAGMA journal_mode = WAL; CREATE TABLE seen (at INTEGER)");
  });
  afterEach(() => {
    if (db.isOpen) db.close();
  });

  it("stays the file that is synced while it is cut and written anew, and is copied into the database", async () => {
    const log = openLogFile(file, db);
    db.exec("INSERT INTO seen VALUES (1)");
    await log.sync();
    const { ino } = statSync(`${file}-wal`);
    log.renew();
    expect(statSync(`${file}-wal`)).to.include({ ino, size: 0 });
    db.exec("INSERT INTO seen VALUES (2)");
    await log.sync();
    expect(statSync(`${file}-wal`).ino).to.equal(ino);
    log.close();
  });

  it("is not said to be synced after it was removed", async () => {
    const log = openLogFile(file, db);
    fs.renameSync(`${file}-wal`, `${file}-aside`);
    expect(String(await thrown(log.sync()))).to.match(/-wal was removed or replaced while it was open$/);
    fs.renameSync(`${file}-aside`, `${file}-wal`);
    expect(await thrown(log.sync())).to.equal("synced");
    log.close();
  });

  it("is not begun anew while another process still reads it", () => {
    const log = openLogFile(file, db);
    db.exec("INSERT INTO seen VALUES (1)");
    const reader = new DatabaseSync(file);
    reader.exec("BEGIN");
    reader.prepare("SELECT * FROM seen").all();
    db.exec("INSERT INTO seen VALUES (2)");
    expect(() => log.renew()).to.throw("while another process reads it");
    reader.close();
    log.renew();
    log.close();
  });
});

describe("a store whose log is synced", () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = createFolder();
    file = join(folder, "state.sqlite");
  });
  afterEach(() => stopCounting());

  it("syncs its log once for what is durable, and not for what may be lost", async () => {
    const store = await openSqliteStore({ file });
    const syncs = countSyncs();
    await store.set("lazy", 1, undefined, "lazy");
    expect(syncs()).to.equal(0);
    await Promise.all(["one", "two"].map((key) => store.set(key, 1)));
    expect(syncs()).to.equal(1);
    await store.close();
  });

  it("syncs what another process has left, when it opens and soon after", async () => {
    const store = await openSqliteStore({ file });
    const syncs = countSyncs();
    await store.set("lazy", 1, undefined, "lazy");
    const other = await openSqliteStore({ file });
    expect(syncs()).to.equal(1);
    await store.set("lazy", 2, undefined, "lazy");
    await eventually(() => syncs() >= 2);
    await Promise.all([store.close(), other.close()]);
  });
});
