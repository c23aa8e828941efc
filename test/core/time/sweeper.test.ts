import { once } from "node:events";
import { mock } from "node:test";
import { setImmediate as breathe } from "node:timers/promises";
import { expect } from "chai";
import type { Lease } from "../../../runtime/core/time/leases.ts";
import {
  type AttemptResult,
  type AttemptTerms,
  createSweeper,
  type Sweeper,
} from "../../../runtime/core/time/sweeper.ts";

type Attempt = (key: string, terms: AttemptTerms) => Promise<AttemptResult> | AttemptResult;

describe("a sweeper", () => {
  const open = new Set<string>();
  const heldByOthers = new Set<string>();
  const leases = new Map<string, AbortController>();
  let attempted: string[];
  let aborted: unknown[];
  let errors: unknown[];
  let outages: unknown[];
  let listing: Error | undefined;
  let attempt: Attempt;
  let sweeper: Sweeper;

  const untilAborted: Attempt = async (_key, { signal }) => {
    await once(signal, "abort");
    aborted.push(signal.reason);
    return "retry" as const;
  };
  const claim = async (key: string): Promise<Lease | undefined> => {
    if (heldByOthers.has(key) || leases.has(key)) return undefined;
    const lost = new AbortController();
    leases.set(key, lost);
    return { lost: () => lost.signal, release: async () => void leases.delete(key) };
  };
  async function* list(): AsyncGenerator<string> {
    if (listing) throw listing;
    yield* open;
  }
  const create = (limit = 16): Sweeper =>
    createSweeper<true>({
      list,
      read: async (key) => open.has(key) || undefined,
      claim,
      attempt: async (key, _item, terms) => {
        attempted.push(key);
        return attempt(key, terms);
      },
      onError: (error) => errors.push(error),
      onOutage: (error) => outages.push(error),
      firstMs: 1000,
      longestMs: 4000,
      sweepMs: 60_000,
      laneOf: (key) => key.split(":")[0] as string,
      limitOf: () => limit,
    });
  const breatheOften = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await breathe();
  };
  async function pass(ms: number): Promise<void> {
    mock.timers.tick(ms);
    await breatheOften();
  }

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    for (const set of [open, heldByOthers, leases]) set.clear();
    [attempted, aborted, errors, outages] = [[], [], [], []];
    listing = undefined;
    attempt = (key) => {
      open.delete(key);
      return "done";
    };
    sweeper = create();
  });
  afterEach(async () => {
    await sweeper.close();
    mock.timers.reset();
  });

  it("attempts what is open when it starts, and what others have opened at the next sweep", async () => {
    open.add("a");
    sweeper.start();
    await breatheOften();
    open.add("b");
    await pass(59_999);
    expect(attempted).to.deep.equal(["a"]);
    await pass(1);
    expect(attempted).to.deep.equal(["a", "b"]);
    expect(leases.size).to.equal(0);
  });

  it("attempts a key once at a time, however often it is scheduled", async () => {
    const end = Promise.withResolvers<AttemptResult>();
    attempt = () => end.promise;
    open.add("a");
    for (let time = 0; time < 3; time += 1) sweeper.schedule("a");
    sweeper.start();
    await breatheOften();
    expect(attempted).to.deep.equal(["a"]);
    end.resolve("done");
  });

  it("tries again after a delay that doubles up to its longest", async () => {
    const delays: number[] = [];
    attempt = (_key, { retryMs }) => {
      delays.push(retryMs);
      return "retry" as const;
    };
    open.add("a");
    sweeper.schedule("a", 500);
    await pass(500);
    for (const ms of [1000, 2000, 4000, 4000]) {
      const before = attempted.length;
      await pass(ms - 1);
      expect(attempted.length).to.equal(before);
      await pass(1);
      expect(attempted.length).to.equal(before + 1);
    }
    expect(delays).to.deep.equal([1000, 2000, 4000, 4000, 4000]);
  });

  it("tries again when the attempt says so, and then with a fresh delay", async () => {
    const delays: number[] = [];
    attempt = (_key, { retryMs }) => {
      delays.push(retryMs);
      return delays.length === 2 ? { retryInMs: 30_000 } : "retry";
    };
    open.add("a");
    sweeper.schedule("a");
    await breatheOften();
    await pass(1000);
    await pass(29_999);
    expect(delays).to.deep.equal([1000, 2000]);
    await pass(1);
    expect(delays).to.deep.equal([1000, 2000, 1000]);
  });

  it("reports an attempt that throws, releases its lease, and tries again", async () => {
    const fault = new Error("no");
    attempt = () => {
      throw fault;
    };
    open.add("a");
    sweeper.schedule("a");
    await breatheOften();
    expect(errors).to.deep.equal([fault]);
    expect(leases.size).to.equal(0);
    await pass(1000);
    expect(attempted).to.deep.equal(["a", "a"]);
  });

  it("leaves a key that another process holds, and looks again", async () => {
    open.add("a");
    heldByOthers.add("a");
    sweeper.schedule("a");
    await breatheOften();
    expect(attempted).to.deep.equal([]);
    heldByOthers.clear();
    await pass(1000);
    expect(attempted).to.deep.equal(["a"]);
  });

  it("forgets a key that is no longer open, so that it can be scheduled anew", async () => {
    sweeper.schedule("a");
    await breatheOften();
    open.add("a");
    sweeper.schedule("a");
    await breatheOften();
    expect(attempted).to.deep.equal(["a"]);
  });

  it("attempts as many keys of a lane at once as it may, in their order, beside other lanes", async () => {
    await sweeper.close();
    sweeper = create(2);
    const ends = new Map<string, () => void>();
    attempt = (key) => new Promise((resolve) => ends.set(key, () => resolve("done")));
    for (const key of ["a:1", "a:2", "a:3", "a:4", "b:1"]) open.add(key);
    sweeper.start();
    await breatheOften();
    expect(attempted).to.deep.equal(["a:1", "a:2", "b:1"]);
    ends.get("a:2")?.();
    await breatheOften();
    expect(attempted).to.deep.equal(["a:1", "a:2", "b:1", "a:3"]);
    for (const end of ["a:1", "a:3", "b:1"]) ends.get(end)?.();
    await breatheOften();
    ends.get("a:4")?.();
  });

  it("aborts an attempt whose lease is lost", async () => {
    attempt = untilAborted;
    open.add("a");
    sweeper.schedule("a");
    await breatheOften();
    leases.get("a")?.abort("lost");
    await breatheOften();
    expect(aborted).to.deep.equal(["lost"]);
  });

  it("reports once per outage that the open keys cannot be listed, and lists them soon afterwards", async () => {
    listing = new Error("away");
    sweeper.start();
    await breatheOften();
    await pass(60_000);
    expect(outages).to.deep.equal([listing]);
    listing = undefined;
    open.add("a");
    await pass(1000);
    expect(attempted).to.deep.equal(["a"]);
    listing = new Error("away again");
    await pass(60_000);
    expect(outages).to.have.length(2);
  });

  it("aborts and awaits what runs when it is closed, and starts nothing more", async () => {
    await sweeper.close();
    sweeper = create(1);
    attempt = untilAborted;
    for (const key of ["a:1", "a:2"]) open.add(key);
    sweeper.start();
    sweeper.schedule("a:3", 500);
    await breatheOften();
    await sweeper.close();
    expect(aborted).to.have.length(1);
    await pass(120_000);
    expect(attempted).to.deep.equal(["a:1"]);
    expect(leases.size).to.equal(0);
  });
});
