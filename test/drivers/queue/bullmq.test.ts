import { expect } from "chai";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { openBullmqQueue } from "../../../runtime/drivers/queue/bullmq.ts";
import { eventually } from "../../support/eventually.ts";
import { findFreePort } from "../../support/free-port.ts";
import { openTestQueue } from "../../support/queue/place.ts";
import { testQueue } from "../../support/queue/suite.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";
import { expectUnavailable } from "../../support/store/suite.ts";

testQueue("Redis, by BullMQ", async () => {
  const redis = await startRedis();
  return {
    place: { redisUrl: redis.url },
    outage: { begin: redis.kill, end: redis.restart },
    dispose: redis.stop,
  };
});

describe("a line of jobs in Redis", () => {
  let redis: TestRedis;
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(() => redis.stop());

  it("cannot be counted while Redis does not answer, so that nobody is charged for a place in it", async () => {
    const { queue, close } = await openTestQueue({ redisUrl: redis.url });
    expect(await queue.count("one")).to.equal(0);
    redis.pause();
    await expectUnavailable(queue.count("one"));
    redis.resume();
    await close();
  });

  it("is closed, too, while Redis is away, in the middle of a turn", async () => {
    const { queue, close } = await openTestQueue({ redisUrl: redis.url });
    const began = Promise.withResolvers<void>();
    let isStopped = false;
    queue.start(async (_job, signal) => {
      began.resolve();
      await new Promise((done) => signal.addEventListener("abort", done));
      isStopped = true;
      return { retryInMs: 0 };
    });
    await queue.add({ id: "job-1", service: "one", at: 1 });
    await began.promise;
    await redis.kill();
    await close();
    expect(isStopped).to.equal(true);
  });

  it("is not opened where there is no Redis", async () => {
    const url = `redis://127.0.0.1:${await findFreePort()}`;
    const terms = { prefix: "p", services: [], concurrencyOf: () => 1, log: silentLog };
    await expectUnavailable(openBullmqQueue({ url, ...terms }));
  });

  it("gives turns to jobs of a service that is not offered any more", async () => {
    const before = await openTestQueue({ redisUrl: redis.url });
    await before.queue.add({ id: "job-1", service: "gone", at: 1 });
    await before.close();
    const { queue, close } = await openTestQueue({ redisUrl: redis.url });
    const taken: string[] = [];
    queue.start(async ({ service }) => {
      taken.push(service);
      return "done";
    });
    await eventually(() => taken.length === 1);
    expect(taken).to.deep.equal(["gone"]);
    await close();
  });

  it("gives turns to jobs of such a service also when its first job comes late", async () => {
    const terms = { prefix: "payphone-jobs", services: [], concurrencyOf: () => 1, log: silentLog };
    const queue = await openBullmqQueue({ url: redis.url, ...terms, othersMs: 20 });
    const taken: string[] = [];
    queue.start(async ({ service }) => {
      taken.push(service);
      return "done";
    });
    await queue.add({ id: "job-1", service: "gone", at: 1 });
    await eventually(() => taken.length === 1).finally(queue.close);
    expect(taken).to.deep.equal(["gone"]);
  });
});
