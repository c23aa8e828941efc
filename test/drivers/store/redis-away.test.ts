import { createClient } from "@keyv/redis";
import { expect } from "chai";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openRedisStore } from "../../../runtime/drivers/store/redis.ts";
import { eventually } from "../../support/eventually.ts";
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

  it("says that it does not answer", async () => {
    redis.pause();
    expect(await silence()).to.equal("Redis cannot be reached: Redis did not answer within 2000 ms");
    redis.resume();
    await eventually(async () => (await silence()) === undefined);
  });
});
