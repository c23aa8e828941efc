import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@keyv/redis";
import { expect } from "chai";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { openRedisStore } from "../../../runtime/drivers/store/redis.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { findFreePort } from "../../support/free-port.ts";
import { withRedis } from "../../support/programs.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";

withRedis.describe("a Redis that is away", () => {
  let redis: TestRedis;
  let store: OpenStore;
  let told: string[];
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());
  beforeEach(async () => {
    told = [];
    const tell = (event: string, { reason }: { readonly reason?: string } = {}): void =>
      void told.push(`${event} ${reason}`);
    const log = { info: tell, warn: tell, error: tell };
    store = await openRedisStore({ url: redis.url, namespace: "test", log });
  });
  afterEach(() => store.close());
  const silence = (): Promise<string | undefined> =>
    store.ping().then(
      () => undefined,
      ({ message }: Error) => message,
    );
  const heard = (event: string, reason: RegExp): string[] =>
    told.filter((line) => line.startsWith(`${event} `) && reason.test(line));

  it("says that it refuses the password, once, where that was changed, and sells again with the old one", async () => {
    const operator = createClient({ url: redis.url });
    await operator.connect();
    await operator.configSet("requirepass", "changed");
    await operator.sendCommand(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    await eventually(async () => (await silence())?.startsWith("Redis refuses what payphone needs: NOAUTH") === true);
    expect(heard("store.unreachable", /NOAUTH/)).to.have.length(1);
    await operator.configSet("requirepass", "");
    await operator.close();
    await eventually(async () => (await silence()) === undefined);
    expect(heard("store.mended", /NOAUTH/)).to.have.length(1);
  });

  it("says why nothing answers, with no address", async () => {
    await redis.kill();
    await eventually(async () => (await silence()) === "Redis cannot be reached: ECONNREFUSED");
    expect(heard("store.unreachable", /ECONNREFUSED/)).to.have.length(1);
    await redis.restart();
    await eventually(async () => (await silence()) === undefined);
    expect(heard("store.mended", /ECONNREFUSED/)).to.have.length(1);
  });

  it("says that it has come back with older data, which lack what was paid since", async () => {
    const OLDER =
      "Redis has come back with older data, and may lack the newest payments: compare with payphone books verify";
    await store.set("a", 1);
    await redis.restart();
    await eventually(async () => (await silence()) === undefined);
    await redis.copy();
    await store.ping();
    expect([await store.get("a"), store.warnings()], "whose data are as new").to.deep.equal([1, []]);
    await redis.restart({ isCopy: true });
    await eventually(async () => (await silence()) === undefined);
    expect([await store.get("a"), store.warnings()]).to.deep.equal([1, [OLDER]]);
    expect(told.filter((line) => line.startsWith("store.warning "))).to.have.length(1);
  });

  it("says to who opens the book why nothing answers", async () => {
    const port = await findFreePort();
    const redisUrl = `redis://127.0.0.1:${port}`;
    const refused = await openBooks({ redisUrl, namespace: "test", file: "/nowhere" }).catch((error: Error) => error);
    expect(refused).to.include({
      code: "unavailable",
      message: `The book in Redis cannot be read: connect ECONNREFUSED 127.0.0.1:${port}`,
    });
  });

  it("says that it does not answer", async () => {
    redis.pause();
    expect(await silence()).to.equal("Redis cannot be reached: Redis did not answer within 2000 ms");
    redis.resume();
    await eventually(async () => (await silence()) === undefined);
  });
});

withRedis.describe("a Sentinel in place of a Redis", () => {
  it("is refused, and told from a Redis that is away", async () => {
    const folder = createFolder();
    const port = await findFreePort();
    writeFileSync(join(folder, "sentinel.conf"), `port ${port}\nbind 127.0.0.1\ndir ${folder}\n`);
    const sentinel = spawn("redis-server", [join(folder, "sentinel.conf"), "--sentinel"], { stdio: "ignore" });
    const redisUrl = `redis://127.0.0.1:${port}`;
    const client = createClient({ url: redisUrl });
    client.on("error", () => {}); // Until it listens.
    await client.connect();
    client.destroy();
    const gone = once(sentinel, "exit");
    const refused = await Promise.all([
      openStore({ redisUrl, dataDir: "/nowhere", patienceMs: 3000 }).catch((error: Error) => error),
      openBooks({ redisUrl, namespace: "test", file: join(folder, "book.sqlite") }).catch((error: Error) => error),
    ]);
    sentinel.kill();
    await gone;
    for (const error of refused)
      expect(error).to.include({
        code: "unavailable",
        message: "Redis runs as a Sentinel: name in REDIS_URL an address that leads to the master it watches",
      });
  });
});
