import { createClient } from "@keyv/redis";
import { expect } from "chai";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openRedisStore } from "../../../runtime/drivers/store/redis.ts";
import { toSale } from "../../support/books/sales.ts";
import { withRedis } from "../../support/programs.ts";
import { expectUnavailable } from "../../support/store/probes.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

withRedis.describe("what a store keeps in Redis", () => {
  let redis: TestRedis;
  let store: OpenStore;
  let client: ReturnType<typeof createClient>;
  before(async () => {
    redis = await startRedis();
    store = await openRedisStore({ url: redis.url, namespace: "test" });
    client = createClient({ url: redis.url });
    await client.connect();
  });
  after(async () => {
    client?.destroy();
    await store?.close();
    await redis?.stop();
  });
  /** The time to live of the only key whose name contains a text; -1: for ever. */
  async function lifeOf(part: string): Promise<number> {
    const keys = await client.keys(`*${part}*`);
    expect(keys).to.have.length(1);
    return Number(await client.pTTL(keys[0] as string));
  }

  it("as members lives as long as the one who stays longest, whoever joins after it, and not for ever", async () => {
    await store.join("in-flight", "one", 1, DAY_MS);
    await store.join("in-flight", "two", 1, HOUR_MS);
    expect(await lifeOf("in-flight")).to.be.within(DAY_MS - HOUR_MS / 2, DAY_MS);
    await store.join("in-flight", "three", 1, 2 * DAY_MS);
    expect(await lifeOf("in-flight")).to.be.within(DAY_MS, 2 * DAY_MS);
  });

  it("of an entry of the book is its name, longer than any record that could enter it again", async () => {
    const sale = toSale();
    await store.enter(sale, { key: "payment:1", value: 1, ttlMs: HOUR_MS });
    expect(await lifeOf(sale.id)).to.be.within(99 * DAY_MS, 100 * DAY_MS);
  });

  it("of a sale that the book does not take is nothing, so that it is entered once the book takes it", async () => {
    const sale = toSale();
    const enter = (): Promise<void> => store.enter(sale, { key: "payment:2", value: "settled" });
    await store.set("payment:2", "settling");
    await client.rename("test-book", "away");
    await client.set("test-book", "of another program");
    await expectUnavailable(enter());
    expect(await store.get("payment:2")).to.equal("settling");
    await client.rename("away", "test-book");
    const before = await client.xLen("test-book");
    await enter();
    await enter();
    expect(await store.get("payment:2")).to.equal("settled");
    expect((await client.xLen("test-book")) - before).to.equal(1);
  });
});
