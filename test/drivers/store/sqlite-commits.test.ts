import type { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { isBusy, isSqliteError } from "../../../runtime/drivers/sqlite-errors.ts";
import { type Commits, createCommits } from "../../../runtime/drivers/store/sqlite/commits.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";

const sqliteError = (errcode: number): Error =>
  Object.assign(new Error(`error ${errcode}`), { code: "ERR_SQLITE_ERROR", errcode });
const thrown = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );

describe("an error of SQLite", () => {
  it("means a lock that another connection holds: busy and locked, with whatever detail", () => {
    for (const code of [5, 6, 5 | (1 << 8), 6 | (2 << 8)])
      expect(isBusy(sqliteError(code)), String(code)).to.equal(true);
    for (const code of [0, 1, 7, 13, 5 << 8]) expect(isBusy(sqliteError(code)), String(code)).to.equal(false);
    for (const other of [new Error("5"), { errcode: 5 }, undefined]) expect(isBusy(other)).to.equal(false);
  });

  it("is told from one of the work's own", () => {
    expect(isSqliteError(sqliteError(13))).to.equal(true);
    expect(isSqliteError(Object.assign(new Error("closed"), { code: "ERR_INVALID_STATE" }))).to.equal(true);
    for (const other of [
      new TypeError("no"),
      Object.assign(new Error("no"), { code: "ERR_OTHER" }),
      { code: "ERR_SQLITE_ERROR" },
    ])
      expect(isSqliteError(other)).to.equal(false);
  });
});

describe("writes that share transactions", () => {
  let time: FrozenTime;
  let commits: Commits;
  let did: string[];
  let refuse: (statement: string) => Error | undefined;
  let sweeps: number;
  let db: { isTransaction: boolean; exec(statement: string): void; prepare(statement: string): { run(): void } };
  beforeEach(() => {
    time = freezeTime();
    [did, refuse, sweeps] = [[], () => undefined, 0];
    db = {
      isTransaction: false,
      exec(statement: string) {
        did.push(statement);
        const error = refuse(statement);
        if (error) throw error;
        db.isTransaction = statement.startsWith("BEGIN");
      },
      prepare: (statement) => ({ run: () => db.exec(statement) }),
    };
    const sync = async (): Promise<void> => void did.push("sync");
    commits = createCommits(db as unknown as DatabaseSync, { sync, renew, check }, () => {
      sweeps += 1;
    });
  });
  afterEach(() => time.thaw());
  const renew = (): void => void did.push("renew");
  const check = (): void => {};
  const begun = (): number => did.filter((statement) => statement.startsWith("BEGIN")).length;

  it("are told when the disk has them, after the commit; those that may be lost, at once", async () => {
    const { promise: synced, resolve: sync } = Promise.withResolvers<void>();
    commits = createCommits(db as unknown as DatabaseSync, { sync: () => synced, renew, check }, () => {});
    const told: string[] = [];
    const durable = commits.run("a", () => 1).then(() => told.push("durable"));
    await commits.run("b", () => 2, "lazy");
    expect(await commits.read("a", () => "seen")).to.equal("seen");
    expect([did, told]).to.deep.equal([["BEGIN IMMEDIATE", "COMMIT"], []]);
    let isDrained = false;
    const drained = commits.drain().then(() => {
      isDrained = true;
    });
    await time.pass(1);
    expect(isDrained).to.equal(false);
    sync();
    await Promise.all([durable, drained]);
    expect(told).to.deep.equal(["durable"]);
  });

  it("share one sync, which those that may be lost do without", async () => {
    await Promise.all([commits.run("a", () => 1), commits.run("b", () => 2, "lazy"), commits.run("c", () => 3)]);
    await commits.run("a", () => 1, "lazy");
    const alone = commits.run("a", () => {
      throw new TypeError("nothing written");
    });
    await thrown(alone);
    expect(did.filter((statement) => statement === "sync")).to.have.lengthOf(1);
    expect([begun(), sweeps]).to.deep.equal([3, 3]);
  });

  it("are rejected when the disk refuses the sync, but for those that may be lost", async () => {
    const fault = new Error("EIO");
    commits = createCommits(
      db as unknown as DatabaseSync,
      { sync: () => Promise.reject(fault), renew, check },
      () => {},
    );
    const works = [commits.run("a", () => 1), commits.run("b", () => 2, "lazy"), commits.run("c", () => 3)];
    expect(await Promise.all(works.map(thrown))).to.deep.equal([fault, { value: 2 }, fault]);
    await commits.drain();
  });

  it("are at most 256 in each", async () => {
    await Promise.all(Array.from({ length: 257 }, (_, at) => commits.run(String(at), () => at)));
    expect(begun()).to.equal(2);
    did = [];
    await Promise.all(Array.from({ length: 256 }, (_, at) => commits.run(String(at), () => at)));
    expect(begun()).to.equal(1);
  });

  it("are tried again for two seconds while another process holds the lock, and then rejected", async () => {
    refuse = (statement) => (statement.startsWith("BEGIN") ? sqliteError(5) : undefined);
    const written = thrown(commits.run("a", () => 1));
    let isOver = false;
    void written.then(() => {
      isOver = true;
    });
    for (let tenth = 0; tenth < 19; tenth += 1) await time.pass(100);
    expect([isOver, begun() > 10]).to.deep.equal([false, true]);
    await time.pass(400);
    expect(await written).to.have.property("errcode", 5);
    refuse = () => undefined;
    expect(await commits.run("a", () => 2)).to.equal(2);
  });

  it("are rejected at once when the disk refuses, all of the transaction, and rolled back", async () => {
    refuse = (statement) => (statement === "COMMIT" ? sqliteError(13) : undefined);
    const works = [commits.run("a", () => 1), commits.run("b", () => 2)].map(thrown);
    for (const error of await Promise.all(works)) expect(error).to.have.property("errcode", 13);
    expect([begun(), did.at(-1)]).to.deep.equal([1, "ROLLBACK"]);
  });

  it("are not rolled back a second time where SQLite has done it by itself, and say what was wrong", async () => {
    refuse = (statement) => {
      if (statement !== "COMMIT") return undefined;
      db.isTransaction = false;
      return sqliteError(13);
    };
    expect(await thrown(commits.run("a", () => 1))).to.have.property("errcode", 13);
    expect(did).not.to.include("ROLLBACK");
  });

  it("are made no more once the file was found to be damaged, whatever it would take then", async () => {
    refuse = (statement) => (statement === "COMMIT" ? sqliteError(11) : undefined);
    await thrown(commits.run("a", () => 1));
    refuse = () => undefined;
    await time.pass(2000);
    expect(await thrown(commits.run("b", () => 2))).to.have.property("errcode", 11);
    expect([begun(), did.includes("renew")]).to.deep.equal([1, false]);
  });

  it("are made no more either once a read has found that", async () => {
    const found = commits.read("a", () => {
      throw sqliteError(11);
    });
    expect(await thrown(found)).to.have.property("errcode", 11);
    expect(await thrown(commits.run("b", () => 2))).to.have.property("errcode", 11);
    expect(begun()).to.equal(0);
  });

  it("fail alone by an error of their own, and all together by one of SQLite's", async () => {
    const fault = new TypeError("not mine");
    const fail = (error: Error) => () => {
      throw error;
    };
    const own = [commits.run("a", fail(fault)), commits.run("b", () => 2)].map(thrown);
    expect(await Promise.all(own)).to.deep.equal([fault, { value: 2 }]);
    const full = [commits.run("a", fail(sqliteError(13))), commits.run("b", () => 2)].map(thrown);
    for (const error of await Promise.all(full)) expect(error).to.have.property("errcode", 13);
  });

  it("are seen by reads of the same key, which wait for them, and by no others", async () => {
    let value = 0;
    const written = commits.run("a", () => {
      value = 1;
    });
    const [same, all, other] = [
      commits.read("a", () => value),
      commits.read(undefined, () => value),
      commits.read("b", () => value),
    ];
    expect(await other).to.equal(0);
    expect(await Promise.all([same, all, written])).to.deep.equal([1, 1, undefined]);
    did = [];
    expect(await commits.read(undefined, () => value)).to.equal(1);
    expect(did, "nothing waits any more").to.deep.equal([]);
  });

  it("give reads that meet a lock their turn, and no others a second one", async () => {
    let times = 0;
    const busyOnce = (): number => {
      times += 1;
      if (times === 1) throw sqliteError(6);
      return times;
    };
    expect(await commits.read("a", busyOnce)).to.equal(2);
    const broken = commits.read("a", () => {
      throw sqliteError(11);
    });
    expect(await thrown(broken)).to.have.property("errcode", 11);
    expect(begun()).to.equal(1);
  });

  it("are drained when the last one has ended", async () => {
    await commits.drain();
    let isDone = false;
    void commits.run("a", () => {
      isDone = true;
    });
    await commits.drain();
    expect(isDone).to.equal(true);
  });
});
