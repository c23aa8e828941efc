import { createClient } from "@keyv/redis";
import { expect } from "chai";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openRedisStore } from "../../../runtime/drivers/store/redis.ts";
import { eventually } from "../../support/eventually.ts";
import { withRedis } from "../../support/programs.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { expectUnavailable } from "../../support/store/probes.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";

withRedis.describe("a Redis that must have a replica", () => {
  let master: TestRedis;
  let replica: TestRedis;
  let store: OpenStore;
  let shop: Shop;
  let onReplica: ReturnType<typeof createClient>;
  let operator: ReturnType<typeof createClient>;
  before(async () => {
    [master, replica] = [await startRedis(), await startRedis()];
    operator = createClient({ url: master.url });
    onReplica = createClient({ url: replica.url });
    await Promise.all([operator.connect(), onReplica.connect()]);
    const lagging = { "min-replicas-to-write": "1", "min-replicas-max-lag": "3600" }; // It goes on without the replica.
    await operator.configSet({ ...lagging, "repl-diskless-sync-delay": "0" });
    const { hostname, port } = new URL(master.url);
    await onReplica.sendCommand(["REPLICAOF", hostname, port]);
    // The master counts a replica a moment after its link is up.
    await eventually(async () => (await operator.info("replication")).includes("min_slaves_good_slaves:1"));
    store = await openRedisStore({ url: master.url, namespace: "test" });
    shop = await openShop({ store: { ...store, entries: createMemoryStore().entries } });
  });
  after(async () => {
    await shop?.close();
    await store?.close();
    onReplica?.destroy();
    operator?.destroy();
    await Promise.all([master?.stop(), replica?.stop()]);
  });

  it("has kept what is durable once the replica has it, too", async () => {
    await store.set("a", 1);
    expect(await onReplica.get("test::a")).to.be.a("string");
    replica.pause();
    const { cause } = (await expectUnavailable(store.set("a", 2))).options;
    expect((cause as Error).message).to.equal("No replica has confirmed what was written");
    await store.set("b", 1, undefined, "lazy");
    replica.resume();
    await eventually(() =>
      store.set("c", 1).then(
        () => true,
        () => false,
      ),
    );
    expect([await onReplica.get("test::b"), await onReplica.get("test::c")]).to.not.include(null);
  });

  it("is not opened by a user who must not wait for the replica", async () => {
    await operator.sendCommand(["ACL", "SETUSER", "shop", "on", ">secret", "~*", "+@all", "-wait"]);
    const url = master.url.replace("//", "//shop:secret@");
    const { message } = await expectUnavailable(openRedisStore({ url, namespace: "test" }));
    expect(message).to.match(/refuses what payphone needs: NOPERM .*wait/);
  });

  it("has no payment settled whose record a new master would lack", async () => {
    const payment = await shop.pay("/v1/roll");
    shop.handler = () => {
      replica.pause();
      return { value: 1 };
    };
    const response = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
    expect([response.status, shop.rail.asked.settle]).to.deep.equal([503, 0]);
    replica.resume();
    const again = await eventually(
      () => shop.post("/v1/roll", ROLL, { "payment-signature": payment }),
      ({ status }) => status !== 409 && status !== 503,
    );
    expect([again.status, shop.executions, shop.rail.asked.settle]).to.deep.equal([200, 1, 1]);
  });
});
