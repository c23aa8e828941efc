import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { mock } from "node:test";
import { expect } from "chai";
import { createJobPlaces, withPlaces } from "../../../runtime/core/jobs/places.ts";
import type { Turn } from "../../../runtime/core/jobs/queue.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { Store } from "../../../runtime/core/store.ts";
import { createStoreQueue } from "../../../runtime/drivers/queue/store.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { testQueue } from "../../support/queue/suite.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

testQueue("SQLite", async () => {
  const path = createFolder();
  let lock: DatabaseSync | undefined;
  return {
    place: { dataDir: path },
    outage: {
      async begin() {
        lock = new DatabaseSync(join(path, "payphone.sqlite"), { timeout: 1000 });
        lock.exec("BEGIN IMMEDIATE");
      },
      async end() {
        lock?.close();
      },
    },
    dispose: async () => {},
  };
});

describe("a line of jobs in a store", () => {
  it("finds the jobs that an earlier version has left", async () => {
    const store = createMemoryStore();
    const job = { id: "job-1", service: "one", at: 1e12 };
    await store.set(`queue:one:${job.at}:job-1`, { ...job, notBefore: 0 });
    const queue = createStoreQueue({ store, clock: { now: Date.now }, log: silentLog, concurrencyOf: () => 1 });
    const taken: unknown[] = [];
    queue.start(
      async (each) => {
        taken.push(each);
        return "done";
      },
      ["one"],
    );
    await eventually(() => taken.length === 1).finally(queue.close);
    expect(taken).to.deep.equal([job]);
  });

  it("gives no turn to a job that waited for another one when its service was abandoned", async () => {
    const store = createMemoryStore();
    const queue = createStoreQueue({ store, clock: { now: Date.now }, log: silentLog, concurrencyOf: () => 1 });
    const first = Promise.withResolvers<void>();
    const taken: string[] = [];
    queue.start(
      async ({ id }) => {
        taken.push(id);
        if (id === "a") await first.promise;
        return "done";
      },
      ["one", "two"],
    );
    for (const id of ["a", "b"]) await queue.add({ id, service: "one", at: 1e12 });
    await eventually(() => taken.length === 1);
    await queue.abandon("one");
    first.resolve();
    await eventually(async () => (await queue.count("one")) < 2);
    await queue.add({ id: "c", service: "two", at: 1e12 });
    await eventually(() => taken.includes("c")).finally(queue.close);
    expect(taken).to.deep.equal(["a", "c"]);
  });

  it("is left, in order, to other processes by one whose places are taken by jobs of an earlier set", async () => {
    const store = createMemoryStore();
    const places = createJobPlaces();
    await places.take("one", 1, new AbortController().signal);
    const hasPlace = (service: string): boolean => places.hasFree(service, 1);
    const terms = { store, clock: { now: Date.now }, log: silentLog, concurrencyOf: () => 1 };
    const queue = createStoreQueue({ ...terms, hasPlace });
    const [own, others]: [string[], string[]] = [[], []];
    const takeTo =
      (taken: string[]): Turn =>
      async ({ id }) => {
        taken.push(id);
        return "done";
      };
    withPlaces(queue, places, () => 1).start(takeTo(own), ["one", "two"]);
    for (const id of ["a", "b"]) await queue.add({ id, service: "one", at: 1e12 });
    await queue.add({ id: "c", service: "two", at: 1e12 });
    await eventually(() => own.length === 1); // It has looked through the queue by then.
    const other = createStoreQueue(terms);
    other.start(takeTo(others), ["one"]);
    await eventually(() => others.length === 2).finally(other.close);
    await queue.add({ id: "d", service: "one", at: 1e12 });
    places.free("one");
    await eventually(() => own.length === 2).finally(queue.close);
    expect([own, others]).to.deep.equal([
      ["c", "d"],
      ["a", "b"],
    ]);
  });

  it("is listed by each process at times of its own, so that none is always the first", async () => {
    const time = freezeTime();
    const random = mock.method(Math, "random", () => 0.8);
    const store = createMemoryStore();
    const keys = mock.method(store, "keys");
    const queue = createStoreQueue({
      ...{ store, clock: { now: Date.now }, log: silentLog, concurrencyOf: () => 1 },
      sweepMs: 1000,
    });
    try {
      queue.start(async () => "done", ["one"]);
      await time.pass(1700);
      expect(keys.mock.callCount()).to.equal(1);
      await time.pass(200);
      expect(keys.mock.callCount()).to.equal(2);
    } finally {
      random.mock.restore();
      time.thaw();
      await queue.close();
    }
  });

  it("lets no job wait longer when the clock was set back", async () => {
    let shift = 0;
    const clock = { now: () => Date.now() + shift };
    const store = createMemoryStore();
    const queue = createStoreQueue({ store, clock, log: silentLog, concurrencyOf: () => 1, sweepMs: 10 });
    let turns = 0;
    queue.start(async () => {
      turns += 1;
      return turns === 1 ? { retryInMs: 60_000 } : "done";
    }, ["one"]);
    await queue.add({ id: "job-1", service: "one", at: 1e12 });
    await eventually(async () => (await store.get<{ notBefore: number }>(`queue:one:${1e12}:job-1`))?.notBefore !== 0);
    shift = -3_600_000;
    await eventually(() => turns === 2).finally(queue.close);
  });
});

describe("a job in a store whose turn has thrown", () => {
  it("has its next one after two seconds: the cause is not the job, but for example a store that is away", async () => {
    const time = freezeTime();
    const store = createMemoryStore();
    const queue = createStoreQueue({ store, clock: { now: Date.now }, log: silentLog, concurrencyOf: () => 1 });
    let turns = 0;
    try {
      queue.start(async () => {
        turns += 1;
        throw new Error("the store is away");
      }, ["one"]);
      await queue.add({ id: "job-1", service: "one", at: 1e12 });
      await time.pass(1900);
      expect(turns).to.equal(1);
      await time.pass(1000);
      expect(turns).to.equal(2);
    } finally {
      time.thaw();
      await queue.close();
    }
  });
});

describe("a line of jobs in a store, and a process that was stalled for longer than its lease", () => {
  const LEASE_MS = 200;
  let time: FrozenTime;
  beforeEach(() => {
    time = freezeTime();
  });
  afterEach(() => time.thaw());

  async function work(onStalled: (store: Store) => Promise<void>): Promise<{ turns: number; stopped: number }> {
    const store = createMemoryStore();
    const terms = { clock: { now: Date.now }, log: silentLog, concurrencyOf: () => 1 };
    const queue = createStoreQueue({ store, ...terms, leaseMs: LEASE_MS, sweepMs: 20 });
    const seen = { turns: 0, stopped: 0 };
    const end = Promise.withResolvers<void>();
    queue.start(
      async (_job, signal) => {
        seen.turns += 1;
        if (seen.turns > 1) return "done";
        time.stall(LEASE_MS * 2);
        await onStalled(store);
        await Promise.race([end.promise, once(signal, "abort")]);
        if (signal.aborted) seen.stopped += 1;
        return signal.aborted ? { retryInMs: 0 } : "done";
      },
      ["one"],
    );
    await queue.add({ id: "job", service: "one", at: 1 });
    await time.pass(LEASE_MS * 2);
    end.resolve();
    await time.pass(LEASE_MS * 4);
    expect(await queue.count("one")).to.equal(0);
    await queue.close();
    return seen;
  }

  it("goes on with its job when nobody else has it", async () => {
    expect(await work(async () => {})).to.deep.equal({ turns: 1, stopped: 0 });
  });

  it("is told to stop when another process has it, and the job has another turn when that one is gone", async () => {
    const takeAway = (store: Store): Promise<void> =>
      store.set(`queue-lease:queue:one:${"1".padStart(13, "0")}:job`, 1, LEASE_MS * 3);
    expect(await work(takeAway)).to.deep.equal({ turns: 2, stopped: 1 });
  });
});
