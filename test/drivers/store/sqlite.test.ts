import { execFile } from "node:child_process";
import { once } from "node:events";
import { chown, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { openSqliteStore } from "../../../runtime/drivers/store/sqlite/sqlite.ts";
import { itAsRoot } from "../../support/as-root.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { expectUnavailable, listKeys, startChild } from "../../support/store/probes.ts";
import { testStore } from "../../support/store/suite.ts";

/** A shell in which no file can grow beyond 1 MB, as on a disk that is full. */
const LITTLE_ROOM = ["sh", "-c", 'ulimit -f 2048; exec "$0" "$@"'];

testStore("a file", async () => ({ options: { dataDir: join(createFolder(), "data") }, dispose: async () => {} }));

describe("a store in a file", () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = createFolder();
    file = join(folder, "payphone.sqlite");
  });

  it("belongs to its user alone", async () => {
    const dataDir = join(folder, "new", "data");
    const store = await openStore({ dataDir });
    await store.set("a", 1);
    for (const name of ["payphone.sqlite", "payphone.sqlite-wal"]) {
      expect((await stat(join(dataDir, name))).mode & 0o777, name).to.equal(0o600);
    }
    expect((await stat(dataDir)).mode & 0o777).to.equal(0o700);
    await store.close();
  });

  itAsRoot("is its folder's user's when root opens it first, as with `serve --check`", async () => {
    await chown(folder, 65_534, 65_533);
    const store = await openSqliteStore({ file });
    await store.set("a", 1);
    for (const path of [file, `${file}-wal`]) expect(await stat(path)).to.include({ uid: 65_534, gid: 65_533 });
    await store.close();
  });

  it("is the same after it was closed and opened", async () => {
    const first = await openSqliteStore({ file });
    await first.set("a", { b: "é" });
    await first.incr("n", 7);
    await first.close();
    const second = await openSqliteStore({ file });
    expect([await second.get("a"), await second.incr("n")]).to.deep.equal([{ b: "é" }, 8]);
    await second.close();
  });

  it("reads one large value in a turn of the event loop, and small ones meanwhile", async () => {
    const store = await openSqliteStore({ file });
    const keys = ["large:1", "large:2", "small", "large:3"];
    for (const key of keys) await store.set(key, key.startsWith("large") ? "x".repeat(100_000) : "x");
    const seen: string[] = [];
    const reads = keys.map((key) => store.get(key).then(() => seen.push(key)));
    while (seen.length < 6) {
      await setImmediate();
      seen.push("turn");
    }
    await Promise.all(reads);
    expect(seen.join(" ")).to.match(/^large:1 small( turn)+ large:2( turn)+ large:3( turn)*$/);
    await store.close();
  });

  it("answers reads of large values that it was asked for before it was closed", async () => {
    const store = await openSqliteStore({ file });
    const large = "x".repeat(100_000);
    for (const key of ["a", "b", "c"]) await store.set(key, large);
    const reads = Promise.all(["a", "b", "c"].map((key) => store.get(key)));
    await store.close();
    expect(await reads).to.deep.equal([large, large, large]);
  });

  it("writes to the disk once what is asked for at once", async () => {
    const store = await openSqliteStore({ file });
    const { size } = await stat(`${file}-wal`);
    await Promise.all(Array.from({ length: 200 }, (_, at) => store.putIfAbsent(`claim:${at}`, at)));
    const written = (await stat(`${file}-wal`)).size - size;
    expect(written).to.be.above(0);
    expect(written, "a commit writes a page of 4096 bytes at least").to.be.below(200 * 4096);
    await store.close();
  });

  it("loses no write that it has acknowledged, however its process ends", async () => {
    const options = { dataDir: folder };
    for (let round = 0; round < 8; round++) {
      const child = startChild(options, ["write", String(round)]);
      let printed = "";
      child.stdout!.on("data", (chunk: Buffer) => {
        printed += chunk;
      });
      const enough = 1 + Math.random() * 20_000;
      await eventually(() => printed.length > enough);
      const exit = once(child, "close");
      child.kill("SIGKILL");
      await exit;
      const acknowledged = printed.split("\n").slice(0, -1);
      expect(acknowledged).not.to.deep.equal([]);
      const store = await openStore(options);
      for (const key of acknowledged) expect(await store.get(key)).to.deep.equal({ key });
      await store.close();
    }
  });

  it("fails closed while another process keeps it locked, changes nothing, and works again afterwards", async () => {
    const store = await openSqliteStore({ file });
    await store.set("a", 1);
    const rival = new DatabaseSync(file);
    rival.exec("BEGIN IMMEDIATE");
    const works = [store.putIfAbsent("b", 1), store.incr("n"), store.set("a", 2), store.ping()];
    expect(await store.get("c")).to.equal(undefined);
    const problems = await Promise.all(works.map(expectUnavailable));
    expect(problems[0]!.options.retryAfter).to.equal(1);
    rival.exec("ROLLBACK");
    expect([await store.get("a"), await store.get("b"), await store.get("n")]).to.deep.equal([1, undefined, undefined]);
    expect(await store.putIfAbsent("b", 2)).to.equal(true);
    await store.ping();
    rival.close();
    await store.close();
  });

  it("waits for another process that holds the lock for a while, without stopping this one", async () => {
    const store = await openSqliteStore({ file });
    const rival = new DatabaseSync(file);
    rival.exec("BEGIN IMMEDIATE");
    const write = store.putIfAbsent("a", 1);
    let turns = 0;
    const ticking = setInterval(() => turns++, 10);
    await eventually(() => turns > 10);
    rival.exec("COMMIT");
    expect(await write).to.equal(true);
    clearInterval(ticking);
    rival.close();
    await store.close();
  });

  it("fails closed when the disk is full, applies no half of anything, and works again when there is room", async () => {
    const child = startChild({ dataDir: folder }, ["fill"], LITTLE_ROOM);
    let printed = "";
    child.stdout!.on("data", (chunk: Buffer) => {
      printed += chunk;
    });
    await once(child, "close");
    const { times, said, after } = JSON.parse(printed);
    expect(times).to.be.within(1, 10);
    expect(said).to.equal("unavailable");
    expect(after).to.deep.equal([times, null]);
    const store = await openStore({ dataDir: folder });
    expect(await listKeys(store, "large:")).to.have.length(times);
    expect([await store.get("filled"), await store.get("small")]).to.deep.equal([times, 1]);
    await store.close();
  });

  it("does not answer a ping while the disk is full, says why, and answers when there is room", async () => {
    const child = startChild({ dataDir: folder }, ["brim"], LITTLE_ROOM);
    const said = await text(child.stdout!);
    expect(said).to.match(/^The store takes no writes: .*(?:full|disk)/);
    const store = await openStore({ dataDir: folder });
    await store.ping();
    await store.close();
  });

  it("leaves room for itself on a full disk: its log does not grow for ever while the database fits", async () => {
    const child = startChild({ dataDir: folder }, ["rewrite"], LITTLE_ROOM);
    expect(Number(await text(child.stdout!))).to.be.at.least(9);
  });

  it("forgets by its own clock, and sweeps away what has expired a little at a time", async () => {
    let time = 1_000_000;
    const store = await openSqliteStore({ file, now: () => time, upkeepMs: 60_000 });
    const reader = new DatabaseSync(file, { readOnly: true });
    const rows = (): number => Number(reader.prepare("SELECT count(*) AS rows FROM entries").get()?.rows);
    await Promise.all(Array.from({ length: 450 }, (_, at) => store.set(`brief:${at}`, at, 1000)));
    await Promise.all([store.set("long", 1, 10 ** 9), store.join("in-flight", "long", 1, 10 ** 9)]);
    expect(rows()).to.equal(451);
    time += 1001;
    expect(await store.get("brief:0")).to.equal(undefined);
    expect(rows()).to.equal(451);
    time += 60_000;
    const counts: number[] = [];
    for (let at = 0; at < 4; at++) {
      await store.set("tick", at);
      counts.push(rows());
    }
    expect(counts).to.deep.equal([252, 52, 2, 2]);
    await store.set("brief", 1, 1000);
    time += 59_999;
    await store.set("tick", 4);
    expect(rows(), "within a minute").to.equal(3);
    time += 1;
    await store.set("tick", 5);
    expect([rows(), (await store.join("in-flight", "new", 1, 10)).members]).to.deep.equal([2, 2]);
    reader.close();
    await store.close();
  });

  it("forgets at the very millisecond: who reads nothing there may put something, and counts no member", async () => {
    let time = 1_000_000;
    const store = await openSqliteStore({ file, now: () => time });
    await store.putIfAbsent("lease", 1, 10);
    await store.join("in-flight", "one", 1, 10);
    time += 9;
    expect([await store.get("lease"), await store.putIfAbsent("lease", 2, 10)]).to.deep.equal([1, false]);
    time += 1;
    expect([await store.get("lease"), await store.putIfAbsent("lease", 2, 10)]).to.deep.equal([undefined, true]);
    expect(await store.join("in-flight", "two", 1, 10)).to.deep.equal({ members: 1, weight: 1 });
    await store.close();
  });

  it("goes on sweeping when nothing else is written", async () => {
    let time = 1_000_000;
    const store = await openSqliteStore({ file, now: () => time, upkeepMs: 5 });
    const reader = new DatabaseSync(file, { readOnly: true });
    await Promise.all(Array.from({ length: 1400 }, (_, at) => store.set(`brief:${at}`, at, 1000)));
    time += 120_000;
    await store.set("kept", 1); // Sweeps 200 away.
    await eventually(() => reader.prepare("SELECT count(*) AS rows FROM entries").get()?.rows === 1);
    reader.close();
    await store.close();
  });

  it("says why it cannot be opened", async () => {
    await writeFile(file, "this is a text, and was never a database ".repeat(100));
    const { message } = await expectUnavailable(openSqliteStore({ file }));
    expect(message).to.include(file).and.to.include("not a database");
    await expectUnavailable(openSqliteStore({ file: join(file, "below") }));
  });

  it("says what its disk may lack where that takes no writes as it is opened", async () => {
    const store = import.meta.resolve("../../../runtime/drivers/store/sqlite/sqlite.ts");
    const opening = `import { openSqliteStore } from "${store}";
      openSqliteStore({ file: process.argv[1] }).catch(({ message }) => console.log(message));`;
    const node = [process.execPath, "--input-type=module", "--eval", opening, file];
    const { stdout } = await promisify(execFile)("sh", ["-c", 'ulimit -f 0; exec "$0" "$@"', ...node]);
    expect(stdout).to.equal(
      `The store ${file} cannot be opened: disk I/O error: its disk may be full, over a quota or broken\n`,
    );
  });
});
