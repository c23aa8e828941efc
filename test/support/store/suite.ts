import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect } from "chai";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openStore, type StoreOptions } from "../../../runtime/drivers/store/open-store.ts";
import { eventually } from "../eventually.ts";
import { testKeys } from "./keys.ts";
import { expectUnavailable, listKeys, startChild } from "./probes.ts";

/** @param prepare makes a place for an empty store and opens it; `dispose` removes the place. */
export function testStore(
  name: string,
  prepare: () => Promise<{ readonly options: StoreOptions; dispose(): Promise<void> }>,
): void {
  describe(`a store in ${name}`, () => {
    let options: StoreOptions;
    let dispose: () => Promise<void>;
    let store: OpenStore;
    let other: OpenStore;
    before(async () => {
      ({ options, dispose } = await prepare());
      [store, other] = await Promise.all([openStore(options), openStore(options)]);
    });
    after(async () => {
      await Promise.all([store?.close(), other?.close()]);
      await dispose?.();
    });

    it("gives back what was set, to every client, until it is deleted", async () => {
      expect(await store.get("a")).to.equal(undefined);
      await store.set("a", { b: 1 });
      expect(await store.get("a")).to.deep.equal({ b: 1 });
      expect(await other.get("a")).to.deep.equal({ b: 1 });
      await other.set("a", 2);
      expect(await store.get("a")).to.equal(2);
      await other.delete("a");
      expect(await store.get("a")).to.equal(undefined);
      await store.delete("a");
    });

    it("keeps JSON as it is", async () => {
      const values = [null, true, false, 0, -1.5, 1e21, "", ":x", ":base64:eA==", "5", [], {}, [[null, { a: [] }]]];
      for (const value of [...values, "é\u0000\u2028\u{1f600}", { "é\u{1f600}": "ä", "": 1 }]) {
        await store.set("json", value);
        expect(await other.get("json")).to.deep.equal(value);
        await store.delete("json");
        expect(await store.putIfAbsent("json", value)).to.equal(true);
        expect(await other.get("json")).to.deep.equal(value);
      }
    });

    it("keeps a value as it was when it was handed over", async () => {
      const value = { a: 1 };
      const works = [store.set("then", value), store.putIfAbsent("then:2", value)];
      value.a = 2;
      await Promise.all(works);
      expect([await store.get("then"), await store.get("then:2")]).to.deep.equal([{ a: 1 }, { a: 1 }]);
    });

    it("takes undefined as absent", async () => {
      await store.set("gone", { a: undefined, b: 1 });
      expect(await store.get("gone")).to.deep.equal({ b: 1 });
      await store.set("gone", undefined);
      expect(await store.get("gone")).to.equal(undefined);
    });

    it("refuses what is not JSON, and keys that it could not tell apart", async () => {
      for (const work of [
        () => store.set("bad", 1n),
        () => store.putIfAbsent("bad", undefined),
        () => store.set("k".repeat(513), 1),
        () => store.get("\ud800"),
        () => store.incr("bad", 0.5),
        () => store.join("bad", "member", 0.5, 1000),
        () => store.set("bad", 1, Number.NaN),
      ]) {
        const error = await work().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error, String(work)).to.be.instanceOf(TypeError);
      }
      expect(await store.get("bad")).to.equal(undefined);
    });

    it("keeps a megabyte", async () => {
      const value = { text: "é".repeat(2 ** 19) };
      await store.set("large", value);
      expect(await other.get("large")).to.deep.equal(value);
    });

    it("forgets what has expired, and only that", async () => {
      await Promise.all([store.set("brief", 1, 40), store.set("long", 1, 60_000), store.putIfAbsent("brief2", 1, 40)]);
      await store.set("renewed", 1, 40);
      await store.set("renewed", 2);
      await eventually(async () => (await store.get("brief")) === undefined);
      await eventually(() => store.putIfAbsent("brief2", 2));
      expect(await store.get("long")).to.equal(1);
      expect(await store.get("renewed")).to.equal(2);
      await store.set("age", 1, Number.MAX_VALUE);
      expect(await store.get("age")).to.equal(1);
      await store.set("over", 1, -5);
      await eventually(async () => (await store.get("over")) === undefined);
    });

    it("puts into an absent key once, whoever asks at the same time", async () => {
      for (const key of ["once:1", "once:2"]) {
        const claims = Array.from({ length: 200 }, (_, at) => (at % 2 ? store : other).putIfAbsent(key, at, 60_000));
        const winners = (await Promise.all(claims)).flatMap((won, at) => (won ? [at] : []));
        expect(winners).to.have.length(1);
        expect(await other.get(key)).to.equal(winners[0]);
      }
    });

    it("renews a value, or puts it into an absent key, but never over another one", async () => {
      const mine = { by: ["me"] };
      expect(await store.renew("held", mine, 60_000)).to.equal(true);
      expect(await other.renew("held", "yours", 60_000)).to.equal(false);
      expect(await other.get("held")).to.deep.equal(mine);
      expect(await store.renew("held", mine, 40)).to.equal(true);
      await eventually(() => other.renew("held", "yours"));
      expect([await store.renew("held", mine), await store.get("held")]).to.deep.equal([false, "yours"]);
      await other.delete("held");
      expect(await store.renew("held", mine)).to.equal(true);
    });

    it("drops a key that holds this value, and no other", async () => {
      const mine = { by: ["me"] };
      await store.set("held", mine, 60_000);
      await other.drop("held", "yours");
      expect(await store.get("held")).to.deep.equal(mine);
      await other.drop("held", mine);
      expect(await store.putIfAbsent("held", "yours")).to.equal(true);
    });

    it("puts into an absent key once, and counts all, across processes", async () => {
      const claims = 400;
      const child = startChild(options, ["race", String(claims)]);
      const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
      expect((await lines.next()).value).to.equal("ready");
      child.stdin!.write("go\n");
      let won = 0;
      for (let end = claims; end > 0; end -= 20) {
        const some = Array.from({ length: 20 }, (_, at) => store.putIfAbsent(`race:${end - 1 - at}`, process.pid));
        won += (await Promise.all(some)).filter(Boolean).length; // Backwards, so that the two meet.
      }
      await Promise.all(Array.from({ length: claims }, () => store.incr("raced")));
      expect((await lines.next()).value).to.equal(`won ${claims - won}`);
      await (child.exitCode ?? once(child, "exit"));
      expect(await store.get("raced")).to.equal(2 * claims);
    });

    it("tallies members across clients, each until it leaves or its time is over", async () => {
      const members = Array.from({ length: 40 }, (_, at) => `member ${at}`);
      const seen = await Promise.all(
        members.map((one, at) => (at % 2 ? store : other).join("tally", one, 2 ** 40, 60_000)),
      );
      expect(seen.map((tally) => tally.members).sort((a, b) => a - b)).to.deep.equal(members.map((_, at) => at + 1));
      expect(await store.join("tally", "member 0", 5, 60_000)).to.deep.equal({ members: 40, weight: 39 * 2 ** 40 + 5 });
      await Promise.all(members.slice(1).map((one) => other.leave("tally", one)));
      expect(await other.join("tally", "brief", 1, 30)).to.deep.equal({ members: 2, weight: 6 });
      const tally = await eventually(
        () => store.join("tally", "last", 1, 60_000),
        ({ members }) => members === 2,
      );
      expect(tally).to.deep.equal({ members: 2, weight: 6 });
      expect(await store.join("tall", "alone", 7, 60_000)).to.deep.equal({ members: 1, weight: 7 });
      await store.leave("tally", "nobody");
    });

    it("counts every increment, and forgets a counter as long after the first as was said", async () => {
      const sums = await Promise.all(Array.from({ length: 200 }, (_, at) => (at % 2 ? store : other).incr("count")));
      expect(sums.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 200 }, (_, at) => at + 1));
      expect(await store.incr("count", -200)).to.equal(0);
      expect(await store.get("count")).to.equal(0);
      await store.incr("hour", 5, 3_600_000);
      expect(await store.incr("hour", 1, 1)).to.equal(6);
      expect(await store.incr("moment", 5, 60)).to.equal(5);
      await eventually(async () => (await store.incr("moment", 1, 3_600_000)) === 1);
      expect(await store.incr("hour")).to.equal(7);
    });

    it("goes on counting where a number was set, and refuses to count anything else", async () => {
      await store.set("number", 41);
      expect(await store.incr("number")).to.equal(42);
      for (const value of ["41", 1.5, null, [1]]) {
        await store.set("text", value);
        const error = await store.incr("text").catch((reason: unknown) => reason);
        expect(error).to.be.instanceOf(TypeError);
        expect(await store.get("text")).to.deep.equal(value);
      }
    });

    testKeys(() => [store, other]);

    it("does what it was asked in the order in which it was asked", async () => {
      const answers = await Promise.all([
        store.set("order", 1),
        store.get("order"),
        store.putIfAbsent("order", 2),
        store.delete("order"),
        store.putIfAbsent("order", 3),
        store.get("order"),
        store.set("order", 4),
        store.incr("order"),
        store.get("order"),
      ]);
      expect(answers).to.deep.equal([undefined, 1, false, undefined, true, 3, undefined, 5, 5]);
      const [, keys] = await Promise.all([store.set("order:2", 1), listKeys(store, "order")]);
      expect(keys).to.deep.equal(["order", "order:2"]);
    });

    it("loses nothing when everything happens at once", async () => {
      const lanes = Array.from({ length: 50 }, async (_, lane) => {
        for (let at = 0; at < 20; at++) {
          const client = (lane + at) % 2 ? store : other;
          await client.set(`stress:${lane}`, at);
          expect(await client.get(`stress:${lane}`)).to.equal(at);
          await client.incr("stress");
        }
      });
      await Promise.all(lanes);
      expect(await store.get("stress")).to.equal(1000);
    });

    it("answers a ping", async () => {
      await store.ping();
    });

    it("finishes what it was asked before it closes, closes once, and then says that it is closed", async () => {
      const closing = await openStore(options);
      const writes = Promise.all(Array.from({ length: 20 }, (_, at) => closing.set(`last:${at}`, at)));
      await Promise.all([closing.close(), closing.close(), writes]);
      await closing.close();
      expect(await store.get("last:19")).to.equal(19);
      for (const work of [closing.get("a"), closing.set("a", 1), closing.incr("a"), closing.ping()]) {
        await expectUnavailable(work);
      }
      await expectUnavailable(listKeys(closing, ""));
    });
  });
}
