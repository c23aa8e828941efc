import { createClient } from "@keyv/redis";
import { expect } from "chai";
import { createReconnection } from "../../runtime/drivers/redis-client.ts";
import { eventually } from "../support/eventually.ts";
import { withRedis } from "../support/programs.ts";
import { startRedis, type TestRedis } from "../support/store/redis.ts";

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
