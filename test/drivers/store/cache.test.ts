import { expect } from "chai";
import type { Cache, Cached } from "../../../runtime/api/capabilities.ts";
import { Problem } from "../../../runtime/api/problem.ts";
import type { Store } from "../../../runtime/core/store.ts";
import { createCache } from "../../../runtime/drivers/store/cache.ts";
import { inCall } from "../../../runtime/drivers/store/cache-reads.ts";
import { createLogBook, type LogLine } from "../../support/http.ts";
import { NEVER } from "../../support/sources/live-upstream.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const HOUR_MS = 3_600_000;
const unreachable = (): Promise<never> => Promise.reject(new Problem("unavailable", "The store cannot be reached"));

describe("a plugin's cache", () => {
  let now: number;
  let store: ReturnType<typeof createMemoryStore>;
  let cache: Cache;
  let lines: readonly LogLine[];
  const open = (changes: { store?: Store; namespace?: string } = {}): Cache => {
    const { lines: written, ...log } = createLogBook();
    lines = written;
    return createCache({ store, namespace: "price", clock: { now: () => now }, log, ...changes });
  };
  const recall = (produce: (signal: AbortSignal) => Promise<unknown>, signal = NEVER): Promise<Cached<unknown>> =>
    cache.remember("key", { ttlMs: HOUR_MS, signal }, produce);
  beforeEach(() => {
    now = 1_800_000_000_000;
    store = createMemoryStore(() => now);
    cache = open();
  });

  it("gives back what was put there, and when", async () => {
    await cache.set("key", { usd: "1.5" }, HOUR_MS);
    now += 1000;
    expect(await cache.get("key")).to.deep.equal({ value: { usd: "1.5" }, storedAt: 1_800_000_000_000 });
    expect(await cache.get("other")).to.equal(undefined);
  });

  it("counts for the call on whose behalf it is read, also where several share one look-up", async () => {
    const counted: string[] = [];
    const ask = (name: string): Promise<unknown> =>
      inCall(
        (what) => void counted.push(`${name} ${what}`),
        () => recall(async () => 1),
      );
    await Promise.all([ask("first"), ask("second")]);
    await ask("third");
    await inCall(
      (what) => void counted.push(`fourth ${what}`),
      () => cache.get("other"),
    );
    await recall(async () => 1); // Nobody's call.
    expect(counted.sort()).to.deep.equal([
      "first cache:miss",
      "fourth cache:miss",
      "second cache:hit",
      "third cache:hit",
    ]);
  });

  it("is one with that of another process, and still there after a restart", async () => {
    await cache.set("key", 1, HOUR_MS);
    expect((await open().get("key"))?.value).to.equal(1);
  });

  it("is the plugin's own", async () => {
    await cache.set("key", 1, HOUR_MS);
    expect(await open({ namespace: "text" }).get("key")).to.equal(undefined);
  });

  it("forgets what is too old, although the store has kept it", async () => {
    const keeper = createMemoryStore(() => 0);
    cache = open({ store: keeper });
    await cache.set("key", 1, HOUR_MS);
    now += HOUR_MS - 1;
    expect(await cache.get("key")).not.to.equal(undefined);
    now += 1;
    expect(await cache.get("key")).to.equal(undefined);
  });

  it("keeps nothing for longer because the clock was set back", async () => {
    await cache.set("key", 1, 60_000);
    now -= HOUR_MS;
    expect(await cache.get("key")).to.equal(undefined);
  });

  it("lets the store forget it, too", async () => {
    await cache.set("key", 1, HOUR_MS);
    const [name = ""] = store.entries.keys();
    now += HOUR_MS;
    expect(await store.get(name)).to.equal(undefined);
  });

  it("never takes one key for another, however long or strange", async () => {
    const long = "x".repeat(100_000);
    const keys = [long, `${long}y`, "", " ", "\ud800", "\udbff", "\ufffd", "é", "e\u0301", "a:b", "#a"];
    for (const [at, key] of keys.entries()) await cache.set(key, at, HOUR_MS);
    for (const [at, key] of keys.entries()) expect((await cache.get(key))?.value).to.equal(at);
    for (const name of store.entries.keys()) expect(name).to.match(/^cache:price:/);
  });

  describe("remembering", () => {
    it("produces a value once, and then recalls it until it is too old", async () => {
      let produced = 0;
      const produce = async (): Promise<number> => ++produced;
      expect(await recall(produce)).to.deep.equal({ value: 1, storedAt: now });
      now += HOUR_MS - 1;
      expect((await recall(produce)).value).to.equal(1);
      now += 1;
      expect(await recall(produce)).to.deep.equal({ value: 2, storedAt: now });
    });

    it("recalls nothing older than this caller takes", async () => {
      await cache.set("key", "old", 2 * HOUR_MS);
      now += HOUR_MS;
      expect((await recall(async () => "new")).value).to.equal("new");
    });

    it("produces once for 200 callers at the same time, each with data of his own", async () => {
      let produced = 0;
      const all = Array.from({ length: 200 }, () => recall(async () => [++produced]));
      const [first, second] = (await Promise.all(all)).map(({ value }) => value);
      expect(produced).to.equal(1);
      expect(second).to.deep.equal(first);
      expect(second).not.to.equal(first);
    });

    it("gives the first caller what all later ones get: JSON", async () => {
      const produce = async (): Promise<unknown> => ({ at: new Date(0), none: undefined });
      const json = { at: "1970-01-01T00:00:00.000Z" };
      expect((await recall(produce)).value).to.deep.equal(json);
      expect((await recall(produce)).value).to.deep.equal(json);
    });

    it("fails for everybody who waits, and keeps nothing of it", async () => {
      const fail = (): Promise<never> => Promise.reject(new Problem("upstream-failed", "no"));
      const failures = await Promise.all([1, 2].map(() => recall(fail).catch(({ message }: Error) => message)));
      expect(failures).to.deep.equal(["no", "no"]);
      expect((await recall(async () => "yes")).value).to.equal("yes");
    });

    it("ends the wait of a caller who leaves, and of no other, although the work was the first one's", async () => {
      const caller = new AbortController();
      const { promise, resolve } = Promise.withResolvers<string>();
      const first = recall(() => promise, caller.signal).catch(({ message }: Error) => message);
      const others = [1, 2].map(() => recall(async () => "of another"));
      caller.abort(new Error("gone"));
      expect(await first).to.equal("gone");
      resolve("of the first");
      expect((await Promise.all(others)).map(({ value }) => value)).to.deep.equal(["of the first", "of the first"]);
    });

    it("ends the work when nobody waits for it any more", async () => {
      const callers = [new AbortController(), new AbortController()];
      const { promise, resolve } = Promise.withResolvers<AbortSignal>();
      const produce = (signal: AbortSignal): Promise<never> => {
        resolve(signal);
        return toRejection(signal).promise;
      };
      const waits = callers.map(({ signal }) => recall(produce, signal).catch(() => "left"));
      const work = await promise;
      callers[0]?.abort();
      expect([await waits[0], work.aborted]).to.deep.equal(["left", false]);
      callers[1]?.abort();
      expect([await waits[1], work.aborted]).to.deep.equal(["left", true]);
    });

    it("does not begin for a caller who has left before", async () => {
      let isProduced = false;
      const produce = async (): Promise<void> => {
        isProduced = true;
      };
      expect(await recall(produce, AbortSignal.abort("before")).catch((why: unknown) => why)).to.equal("before");
      await recall(async () => 1);
      expect(isProduced).to.equal(false);
    });
  });

  describe("over a store that cannot be reached", () => {
    const broken = (changes: Partial<Store>): void => {
      cache = open({ store: { ...store, ...changes } });
    };

    it("is as good as empty, and says so in the log", async () => {
      broken({ get: unreachable });
      expect(await cache.get("key")).to.equal(undefined);
      expect((await recall(async () => "answer")).value).to.equal("answer");
      expect(lines).to.have.length(2);
      expect(lines[0]).to.include({ level: "warn", event: "cache.unread", namespace: "price" });
    });

    it("still gives the answer that could not be kept", async () => {
      broken({ set: unreachable });
      await cache.set("key", 1, HOUR_MS);
      expect((await recall(async () => "answer")).value).to.equal("answer");
      expect(lines.map(({ event }) => event)).to.deep.equal(["cache.unwritten", "cache.unwritten"]);
    });
  });

  it("does not fsync what can be found out again", async () => {
    const durabilities: unknown[] = [];
    cache = open({ store: { ...store, set: async (...args) => void durabilities.push(args[3]) } });
    await cache.set("key", 1, HOUR_MS);
    expect(durabilities).to.deep.equal(["lazy"]);
  });
});

function toRejection(signal: AbortSignal): { readonly promise: Promise<never> } {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason));
  return { promise };
}
