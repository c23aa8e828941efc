import { mock } from "node:test";
import { createClient } from "@keyv/redis";
import { expect } from "chai";
import { answered, createReconnection, refuseSentinel } from "../../runtime/drivers/redis-client.ts";
import { openRedisStore } from "../../runtime/drivers/store/redis.ts";
import { eventually } from "../support/eventually.ts";
import { type FrozenTime, freezeTime } from "../support/frozen-time.ts";
import { withRedis } from "../support/programs.ts";
import { startRedis, type TestRedis } from "../support/store/redis.ts";
import { startRedisProxy } from "../support/store/redis-proxy.ts";

withRedis.describe("a connection to Redis that is ended", () => {
  let redis: TestRedis;
  let observer: ReturnType<typeof createClient>;
  before(async () => {
    redis = await startRedis();
    observer = createClient({ url: redis.url });
    await observer.connect();
  });
  after(async () => {
    await observer.close();
    await redis.stop();
  });
  const countConnections = async (): Promise<number> => (await observer.clientList()).length;

  function open(url: string) {
    const reconnection = createReconnection();
    const socket = { connectTimeout: 2000, socketTimeout: 2000, reconnectStrategy: reconnection.strategy };
    const client = createClient({ url, disableOfflineQueue: true, pingInterval: 50, socket });
    const errors: unknown[] = [];
    client.on("error", (error) => errors.push(error));
    return { client, reconnection, errors };
  }

  it("is closed at once", async () => {
    const { client, reconnection } = open(redis.url);
    await client.connect();
    reconnection.end(client);
    expect(client.isOpen).to.equal(false);
    await eventually(async () => (await countConnections()) === 1);
  });

  it("is closed as soon as it is there, when it was still being made, and leaves no timer behind", async () => {
    const { client, reconnection, errors } = open(redis.url);
    const connecting = client.connect();
    reconnection.end(client);
    await connecting;
    expect({ isOpen: client.isOpen, isReady: client.isReady }).to.deep.equal({ isOpen: false, isReady: false });
    await eventually(async () => (await countConnections()) === 1);
    expect(errors).to.deep.equal([]);
  });

  it("is not tried again where nobody answers", async () => {
    const { client, reconnection } = open("redis://127.0.0.1:9");
    const connecting = client.connect().catch(() => "given up");
    reconnection.end(client);
    expect(await connecting).to.equal("given up");
    expect(client.isOpen).to.equal(false);
  });
});

withRedis.describe("a connection to Redis on which nothing is answered any more", () => {
  it("is replaced, however many commands are sent on it meanwhile", async () => {
    const redis = await startRedis();
    const proxy = await startRedisProxy(redis.url);
    const store = await openRedisStore({ url: proxy.url, namespace: "test" });
    await store.set("a", 1);
    let isOver = false;
    proxy.intervene(() => {
      const fate = isOver ? "pass" : "mute";
      isOver = true;
      return fate;
    });
    const commands = setInterval(() => void store.get("b").catch(() => {}), 100);
    await store.get("a").catch(() => {});
    const read = () => store.get("a").catch(() => undefined);
    await eventually(read).finally(() => clearInterval(commands));
    await store.close();
    await proxy.stop();
    await redis.stop();
  });
});

describe("what a server says of itself", () => {
  for (const name of ["redis_mode", "server_mode"])
    it(`tells a Sentinel by ${name}, as ${name.startsWith("redis") ? "Redis" : "Valkey"} calls it`, () => {
      const toInfo = (mode: string): string => `# Server\r\n${name}:${mode}\r\nos:Linux\r\n`;
      expect(() => refuseSentinel(toInfo("standalone"))).not.to.throw();
      expect(() => refuseSentinel(toInfo("sentinel"))).to.throw("Redis runs as a Sentinel");
    });
});

describe("a command to Redis", () => {
  let time: FrozenTime;
  before(() => {
    time = freezeTime();
  });
  after(() => {
    mock.restoreAll();
    time.thaw();
  });

  it("does not fail because this process was stalled: what Redis has answered meanwhile is read first", async () => {
    await time.pass(1000);
    const timers: { readonly ms: number; readonly end: AbortController }[] = [];
    mock.method(AbortSignal, "timeout", (ms: number) => {
      const end = new AbortController();
      timers.push({ ms, end });
      return end.signal;
    });
    const answer = Promise.withResolvers<string>();
    const ends = [answer.promise, new Promise(() => {})].map((work) => answered(work).catch(({ message }) => message));
    time.stall(5000);
    timers[0]?.end.abort();
    await time.pass(0);
    answer.resolve("kept");
    await time.pass(2500);
    timers.find(({ ms }) => ms >= 1900 && ms <= 2100)?.end.abort();
    await time.pass(0);
    expect(await Promise.all(ends)).to.deep.equal(["kept", "Redis did not answer within 2000 ms"]);
  });
});
