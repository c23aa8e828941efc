import { once } from "node:events";
import { mock } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@keyv/redis";
import { createNodeRedisClient, Queue } from "bullmq";
import { expect } from "chai";
import type { JobQueue, QueuedJob, Turn } from "../../../runtime/core/jobs/queue.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { openBullmqQueue } from "../../../runtime/drivers/queue/bullmq.ts";
import { endLongWaits } from "../../../runtime/drivers/queue/bullmq-waits.ts";
import { PATIENCE_MS } from "../../../runtime/drivers/redis-client.ts";
import { eventually } from "../../support/eventually.ts";
import { findFreePort } from "../../support/free-port.ts";
import { withRedis } from "../../support/programs.ts";
import { openTestQueue } from "../../support/queue/place.ts";
import { testQueue } from "../../support/queue/suite.ts";
import { expectUnavailable } from "../../support/store/probes.ts";
import { startRedis, type TestRedis, untilPinged } from "../../support/store/redis.ts";
import { startRedisProxy } from "../../support/store/redis-proxy.ts";

withRedis.describe("jobs in Redis", () =>
  testQueue("Redis, by BullMQ", async () => {
    const redis = await startRedis();
    return {
      place: { redisUrl: redis.url },
      outage: { begin: redis.kill, end: redis.restart },
      dispose: redis.stop,
    };
  }),
);

const isAdded = (queue: JobQueue, id: string): Promise<boolean> =>
  queue.add({ id, service: "one", at: 1 }).then(
    () => true,
    () => false,
  );

withRedis.describe("a line of jobs in Redis", () => {
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

  for (const field of ["data", "opts"])
    it(`gives a job its turn, and shows it, also where its ${field} in Redis were damaged by hand`, async () => {
      const { queue, close } = await openTestQueue({ redisUrl: redis.url });
      const ids = ["job-1", "job-2", "job-3"];
      const client = await createClient({ url: redis.url }).connect();
      const add = async (): Promise<void> => {
        for (const id of ids) await queue.add({ id, service: "one", at: 1 });
        const [key] = await client.keys("*:one:job-2");
        await client.hSet(key as string, field, '{"cut');
      };
      await add();
      expect((await queue.list("one", 10)).map(({ id }) => id)).to.have.members(ids);
      for (const id of ids) await client.del(await client.keys(`*:one:${id}`));
      await client.del(await client.keys("*:one:wait"));
      await add();
      const given: string[] = [];
      const take = async ({ id }: QueuedJob): Promise<"done"> => {
        given.push(id);
        return "done";
      };
      queue.start(take, ["one"]);
      await eventually(() => given.length === 3);
      expect(given).to.have.members(ids);
      await eventually(async () => (await client.keys("*:one:job-*")).length === 0); // Nothing is kept of them.
      expect(await queue.count("one")).to.equal(0);
      client.destroy();
      await close();
    });

  it("gives a job its next turn at once, where the clock was ahead when its wait for it began", async () => {
    const [now, day] = [Date.now, 24 * 60 * 60_000];
    const ahead = mock.method(Date, "now", () => now() + day);
    const before = await openTestQueue({ redisUrl: redis.url });
    before.queue.start(async () => ({ retryInMs: 60_000 }), ["one"]);
    await before.queue.add({ id: "job-1", service: "one", at: 1 });
    const client = await createClient({ url: redis.url }).connect();
    await eventually(async () => (await client.zCard("payphone-jobs:one:delayed")) === 1);
    client.destroy();
    await before.close();
    ahead.mock.restore();
    const { queue, close } = await openTestQueue({ redisUrl: redis.url });
    let turns = 0;
    queue.start(async () => {
      turns += 1;
      return { retryInMs: 60_000 };
    }, ["one"]);
    await eventually(() => turns === 1).finally(close);
  });

  it("ends no wait early that is long, or that began on a machine whose clock differs by minutes", async () => {
    const [now, minute] = [Date.now(), 60_000];
    const waits = { long: [0, 60], skewed: [4, 30], early: [9, 30], taken: [9, 30] } as const;
    const scores = Object.entries(waits).map(([value, [began, delay]]) => {
      return { value, score: (now + (began + delay) * minute) * 4096 };
    });
    const promoted: string[] = [];
    const toJob = (id: keyof typeof waits) => ({
      delay: waits[id][1] * minute,
      async promote() {
        promoted.push(id);
        if (id === "taken") throw new Error("another process was first");
      },
    });
    const queue = { toKey: (name: string) => name, getJob: async (id: keyof typeof waits) => toJob(id) };
    const zRangeByScoreWithScores = async (_: string, min: number) => scores.filter(({ score }) => score >= min);
    await endLongWaits(queue as never, { zRangeByScoreWithScores });
    expect(promoted).to.deep.equal(["early", "taken"]);
  });

  it("is reached again soon where a connection went silent, however many jobs are added meanwhile", async () => {
    const proxy = await startRedisProxy(redis.url);
    const { queue, close } = await openTestQueue({ redisUrl: proxy.url });
    let turns = 0;
    queue.start(async () => {
      turns += 1;
      return "done";
    }, ["one"]);
    await queue.add({ id: "job-0", service: "one", at: 1 });
    await eventually(() => turns === 1);
    let isMute = false;
    proxy.intervene((words) => {
      const fate = isMute || words[0] !== "SADD" ? "pass" : "mute";
      isMute ||= fate === "mute";
      return fate;
    });
    let count = 0;
    const adding = setInterval(() => {
      count += 1;
      queue.add({ id: `job-${count}`, service: "one", at: 1 }).catch(() => {});
    }, 200);
    await expectUnavailable(queue.add({ id: "first", service: "one", at: 1 }));
    await eventually(() => isAdded(queue, "last")).finally(() => clearInterval(adding));
    await eventually(async () => (await queue.count("one")) === 0);
    await close();
    await proxy.stop();
  });

  it("is reached again where a new connection is not even greeted", async () => {
    const proxy = await startRedisProxy(redis.url);
    const { queue, close } = await openTestQueue({ redisUrl: proxy.url });
    let count = 0;
    proxy.intervene(() => (++count === 1 ? "mute" : "pass"));
    proxy.cut();
    await eventually(() => count > 0);
    await eventually(() => isAdded(queue, "job-1"));
    await close();
    await proxy.stop();
  });

  it("is closed, too, while Redis is away, in the middle of a turn", async () => {
    const { queue, close } = await openTestQueue({ redisUrl: redis.url });
    const began = Promise.withResolvers<void>();
    let isStopped = false;
    queue.start(
      async (_job, signal) => {
        began.resolve();
        await new Promise((done) => signal.addEventListener("abort", done));
        isStopped = true;
        return { retryInMs: 0 };
      },
      ["one"],
    );
    await queue.add({ id: "job-1", service: "one", at: 1 });
    await began.promise;
    await redis.kill();
    await close();
    expect(isStopped).to.equal(true);
  });

  it("waits, when it is closed, for a turn that takes longer to end than Redis may take to answer", async () => {
    const { queue, close } = await openTestQueue({ redisUrl: redis.url });
    const began = Promise.withResolvers<void>();
    let isOver = false;
    queue.start(
      async (_job, signal) => {
        began.resolve();
        await once(signal, "abort");
        await sleep(PATIENCE_MS + 500);
        isOver = true;
        return "done";
      },
      ["one"],
    );
    await queue.add({ id: "job-1", service: "one", at: 1 });
    await began.promise;
    await close();
    expect(isOver).to.equal(true);
  });

  it("gives back what is at work when it is closed, first in line, also where it takes no more jobs since", async () => {
    const { queue, close } = await openTestQueue({ redisUrl: redis.url });
    const client = await createClient({ url: redis.url }).connect();
    const began = Promise.withResolvers<void>();
    const untilStopped: Turn = (_job, signal) => {
      began.resolve();
      return once(signal, "abort").then(() => ({ retryInMs: 0 }));
    };
    queue.start(untilStopped, ["one"]);
    for (const id of ["job-1", "job-2"]) await queue.add({ id, service: "one", at: 1 });
    await began.promise;
    void queue.drain();
    await close();
    const line = await client.lRange("payphone-jobs:one:wait", 0, -1).finally(() => client.destroy());
    expect(line, "the first is the last").to.deep.equal(["job-2", "job-1"]);
  });

  it("keeps its connection while there are no jobs, which is no outage to be logged", async () => {
    const { close } = await openTestQueue({ redisUrl: redis.url });
    await untilPinged(redis.url);
    await close();
  });

  it("is not opened where there is no Redis", async () => {
    const url = `redis://127.0.0.1:${await findFreePort()}`;
    const terms = { prefix: "p", concurrencyOf: () => 1, log: silentLog };
    await expectUnavailable(openBullmqQueue({ url, ...terms }));
  });

  it("finds the jobs that an earlier version has left", async () => {
    const client = await createClient({ url: redis.url }).connect();
    const before = new Queue("one", { connection: createNodeRedisClient(client), prefix: "payphone-jobs" });
    await before.add("job", { at: 5 }, { jobId: "job-1", removeOnComplete: true, removeOnFail: true });
    await before.close();
    client.destroy();
    const { queue, close } = await openTestQueue({ redisUrl: redis.url });
    const taken: QueuedJob[] = [];
    queue.start(
      async (job) => {
        taken.push(job);
        return "done";
      },
      ["one"],
    );
    await eventually(() => taken.length === 1).finally(close);
    expect(taken).to.deep.equal([{ id: "job-1", service: "one", at: 5 }]);
  });
});
