import { createClient } from "@keyv/redis";
import { expect } from "chai";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { openRedisStore } from "../../../runtime/drivers/store/redis.ts";
import { eventually } from "../../support/eventually.ts";
import { withRedis } from "../../support/programs.ts";
import { expectUnavailable, listKeys } from "../../support/store/probes.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";
import { testStore } from "../../support/store/suite.ts";

withRedis.describe("state in Redis", () =>
  testStore("Redis", async () => {
    const redis = await startRedis();
    return { options: { redisUrl: redis.url, dataDir: "/nowhere" }, dispose: () => redis.stop() };
  }),
);

withRedis.describe("a store in a Redis", () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis?.stop());
  afterEach(() => redis.restart());
  const open = (namespace = "test"): Promise<OpenStore> => openRedisStore({ url: redis.url, namespace });

  /** Nothing may look as if the key were absent. */
  async function expectAllUnavailable(store: OpenStore): Promise<void> {
    const works = [store.get("a"), store.set("a", 2), store.delete("a"), store.putIfAbsent("a", 2), store.incr("n")];
    await Promise.all([...works, store.ping(), listKeys(store, "")].map(expectUnavailable));
  }

  const isBack = (store: OpenStore) => (): Promise<boolean> =>
    store.ping().then(
      () => true,
      () => false,
    );

  it("cannot be opened while Redis is gone, and says where it was looked for, but no password", async () => {
    await redis.kill();
    const url = redis.url.replace("//", "//user:secret@");
    const { message } = await expectUnavailable(openRedisStore({ url, namespace: "test" }));
    expect(message).to.include(new URL(url).host).and.to.include("ECONNREFUSED").and.not.to.include("secret");
  });

  it("is waited for, where Redis starts at the same time, and that is logged once", async () => {
    await redis.kill();
    const { promise: isAwaited, resolve } = Promise.withResolvers<string>();
    let times = 0;
    const warn = (event: string): void => {
      times += 1;
      resolve(event);
    };
    const options = { redisUrl: redis.url, dataDir: "/nowhere", log: { ...silentLog, warn }, patienceMs: 60_000 };
    const opening = openStore(options);
    expect(await isAwaited).to.equal("store.awaited");
    await redis.restart();
    const store = await opening;
    await store.ping();
    expect(times).to.equal(1);
    await store.close();
  });

  it("cannot be opened with a password that is refused, or while nothing answers", async () => {
    const url = redis.url.replace("//", "//user:secret@");
    const { message } = await expectUnavailable(openRedisStore({ url, namespace: "test" }));
    expect(message).to.include("WRONGPASS").and.not.to.include("secret");
    redis.pause();
    await expectUnavailable(open());
    redis.resume();
  });

  it("cannot be opened by a user who lacks a right, which is not waited for", async () => {
    const client = createClient({ url: redis.url });
    await client.connect();
    const rights = (...rules: readonly string[]): Promise<unknown> =>
      client.sendCommand(["ACL", "SETUSER", "shop", "reset", "on", ">secret", ...rules]);
    const redisUrl = redis.url.replace("//", "//shop:secret@");
    const openAsShop = (): Promise<OpenStore> => openStore({ redisUrl, dataDir: "/nowhere", patienceMs: 60_000 });
    for (const [missing, rules] of [
      ["info", ["~*", "+@all", "-@dangerous"]],
      ["eval", ["~*", "+@all", "-@scripting"]],
      ...["xadd", "xrange", "scan", "hdel"].map((command) => [command, ["~*", "+@all", `-${command}`]] as const),
    ] as const) {
      await rights(...rules);
      const { message } = await expectUnavailable(openAsShop());
      expect(message)
        .to.match(/^Redis at \S+ refuses what payphone needs: NOPERM /)
        .and.to.include(missing);
    }
    await rights("~payphone*", "+@all", "-@dangerous", "+info");
    const store = await openAsShop();
    await store.set("a", 1);
    expect(await listKeys(store, "")).to.include("a");
    await store.close();
    await client.close();
  });

  it("fails closed when Redis dies, and finds it again by itself", async () => {
    const store = await open();
    await store.set("a", 1);
    await redis.kill();
    await expectAllUnavailable(store);
    await expectAllUnavailable(store);
    await redis.restart();
    await eventually(isBack(store));
    expect(await store.get("a")).to.equal(1);
    expect(await store.putIfAbsent("a", 2)).to.equal(false);
    await store.close();
  });

  it("fails closed when Redis hangs, and works again when it does", async () => {
    const store = await open();
    await store.set("a", 1);
    redis.pause();
    await expectAllUnavailable(store);
    redis.resume();
    await eventually(isBack(store));
    await store.set("a", 3);
    expect(await store.get("a")).to.equal(3);
    await store.close();
  });

  it("can be closed while Redis is gone", async () => {
    const store = await open();
    await redis.kill();
    await store.close();
    await expectUnavailable(store.get("a"));
  });

  it("keeps to its namespace, whatever that is called", async () => {
    const stores = await Promise.all(["one", "on*", "o[n]e", "one::two"].map(open));
    const [first, ...others] = stores as [OpenStore, ...OpenStore[]];
    await first.set("a", 1);
    await first.set("two::a", 1);
    for (const other of others.slice(0, 2)) expect(await listKeys(other, "")).to.deep.equal([]);
    for (const other of others) await other.set("b", 2);
    expect(await first.get("b")).to.equal(undefined);
    expect(await others[0]!.get("a")).to.equal(undefined);
    expect(await listKeys(others[0]!, "")).to.deep.equal(["b"]);
    await Promise.all(stores.map((store) => store.close()));
  });

  it("is refused where Redis may forget what has not expired", async () => {
    const client = createClient({ url: redis.url });
    await client.connect();
    await client.configSet({ maxmemory: "100mb", "maxmemory-policy": "volatile-lru" });
    const { message } = await expectUnavailable(open());
    expect(message).to.equal("Redis may forget payments: its maxmemory-policy is volatile-lru, set it to noeviction");
    await client.configSet({ "maxmemory-policy": "noeviction" });
    await (await open()).close();
    await client.close();
  });

  describe("that is changed while it is used", () => {
    let client: ReturnType<typeof createClient>;
    let store: OpenStore;
    let told: string[];
    beforeEach(async () => {
      client = createClient({ url: redis.url });
      await client.connect();
      told = [];
      const tell =
        (level: string) =>
        (event: string, fields: object = {}): void =>
          void told.push([level, event, ...Object.values(fields)].join(" "));
      const log = { info: tell("info"), warn: tell("warn"), error: tell("error") };
      store = await openRedisStore({ url: redis.url, namespace: "test", log });
    });
    afterEach(async () => {
      await store.close();
      await client.close();
    });

    const promoted =
      "A replica has become Redis's master, and may lack the newest payments: compare with payphone books verify";
    for (const [what, change, mend, reason, ...warned] of [
      [
        "begins to evict",
        { maxmemory: "100mb", "maxmemory-policy": "allkeys-lru" },
        { "maxmemory-policy": "noeviction" },
        "Redis may forget payments: its maxmemory-policy is allkeys-lru, set it to noeviction",
      ],
      [
        "lacks replicas",
        { "min-replicas-to-write": "1" },
        { "min-replicas-to-write": "0" },
        "Redis takes no writes: NOREPLICAS Not enough good replicas to write.",
      ],
      [
        "becomes a replica",
        ["127.0.0.1", "9"],
        ["NO", "ONE"],
        "Redis is a replica and takes no writes: name its master in REDIS_URL, or make it one",
        `warn store.warning ${promoted}`,
      ],
    ] as const)
      it(`fails closed as soon as it ${what}, says why once, and works again when that is mended`, async () => {
        const apply = (to: typeof change | typeof mend): Promise<unknown> =>
          "length" in to ? client.sendCommand(["REPLICAOF", ...to]) : client.configSet({ ...to });
        await apply(change);
        for (let turn = 0; turn < 2; turn += 1) {
          const { message } = await expectUnavailable(store.ping());
          expect(message).to.equal(reason);
          await expectAllUnavailable(store);
        }
        expect(told).to.deep.equal([`error store.unsafe ${reason}`]);
        await apply(mend);
        await store.ping();
        await store.set("a", 1);
        expect(told).to.deep.equal([`error store.unsafe ${reason}`, ...warned, `info store.mended ${reason}`]);
      });

    it("notices without being asked", async () => {
      await client.configSet({ maxmemory: "100mb", "maxmemory-policy": "allkeys-lfu" });
      await eventually(() => told.length > 0);
      await expectUnavailable(store.get("noticed"));
      await client.configSet({ "maxmemory-policy": "noeviction" });
      await eventually(() => told.some((line) => line.includes("store.mended")));
      expect(await store.get("noticed")).to.equal(undefined);
    });

    it("warns once of what a crash would cost while it writes no log, or does not wait for it", async () => {
      const loses = "Redis may lose the newest payments when it crashes";
      const later = `${loses}: its appendfsync is everysec, set it to always`;
      const never = `${loses}: set its appendonly to yes and its appendfsync to always`;
      await store.ping();
      expect(store.warnings()).to.deep.equal([]);
      for (const [change, warning] of [
        [{ appendfsync: "everysec" }, later],
        [{ appendonly: "no" }, never],
      ] as const) {
        await client.configSet(change);
        await store.ping();
        await store.ping();
        expect(store.warnings()).to.deep.equal([warning]);
        await store.set("a", 1);
      }
      await client.configSet({ appendfsync: "always", appendonly: "yes" });
      await store.ping();
      expect(store.warnings()).to.deep.equal([]);
      const events = [`warn store.warning ${later}`, `warn store.warning ${never}`, `info store.mended ${later}`];
      expect(told).to.deep.equal([...events, `info store.mended ${never}`]);
    });
  });
});
