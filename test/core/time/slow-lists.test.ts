import { mock } from "node:test";
import { setImmediate as breathe } from "node:timers/promises";
import { expect } from "chai";
import { createSweeper, type Sweeper } from "../../../runtime/core/time/sweeper.ts";

const MINUTE_MS = 60_000;

describe("a sweeper whose lists take long", () => {
  let sweeper: Sweeper;
  let lists: number;

  beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
  afterEach(async () => {
    await sweeper.close();
    mock.timers.reset();
    mock.restoreAll();
  });

  /** Starts one that lists once a minute. @param lasting how long its first, second, … list takes, in milliseconds */
  async function start(lasting: (list: number) => number): Promise<void> {
    let now = 0;
    lists = 0;
    mock.method(performance, "now", () => now);
    sweeper = createSweeper({
      async *list() {
        lists += 1;
        now += lasting(lists);
        yield* [];
      },
      read: async () => undefined,
      claim: async () => undefined,
      attempt: async () => "done",
      onError: (error) => expect.fail(String(error)),
      onOutage: (error) => expect.fail(String(error)),
      firstMs: 1000,
      longestMs: MINUTE_MS,
      sweepMs: MINUTE_MS,
    });
    sweeper.start();
    await breathe();
  }
  async function pass(ms: number): Promise<void> {
    mock.timers.tick(ms);
    await breathe();
  }

  it("lists for a tenth of the time at most: with Redis, a list reads the names of all keys", async () => {
    await start(() => 30_000);
    await pass(299_999);
    expect(lists).to.equal(1);
    await pass(1);
    expect(lists).to.equal(2);
  });

  it("lists as usual after one list that took long, as on a machine that stood still", async () => {
    await start((list) => (list === 2 ? 30_000 : 1));
    await pass(MINUTE_MS);
    await pass(MINUTE_MS);
    expect(lists).to.equal(3);
  });
});
