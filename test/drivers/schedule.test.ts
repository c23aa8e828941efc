import { mock } from "node:test";
import { setImmediate as breathe } from "node:timers/promises";
import { expect } from "chai";
import { createSchedule, type OpenSchedule } from "../../runtime/drivers/schedule.ts";
import { createLogBook, type LogLine } from "../support/http.ts";

const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

describe("background work", () => {
  let schedule: OpenSchedule;
  let lines: readonly LogLine[];
  /** The names of tasks, as they were begun. */
  let begun: string[];
  const every = (
    name: string,
    intervalMs: number,
    task: (signal: AbortSignal) => Promise<void> = async () => {},
  ): void =>
    schedule.every(name, intervalMs, (signal) => {
      begun.push(name);
      return task(signal);
    });
  const pass = async (ms: number): Promise<void> => {
    mock.timers.tick(ms);
    await breathe();
  };
  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const { lines: written, ...log } = createLogBook();
    [lines, begun] = [written, []];
    schedule = createSchedule({ log });
  });
  afterEach(async () => {
    await schedule.close();
    mock.timers.reset();
  });

  it("does not run before it is started", async () => {
    every("task", SECOND_MS);
    await pass(DAY_MS);
    expect(begun).to.deep.equal([]);
  });

  for (const interval of ["1h", " ", async () => {}, undefined, Number.NaN, -1])
    it(`is not begun at the interval ${String(interval)}, which a timer takes for a millisecond`, () => {
      const add = (): void => schedule.every("task", interval as number, async () => {});
      expect(add).to.throw(RangeError, 'schedule.every("task"): its interval must be a number of milliseconds');
    });

  it("runs at an interval that is a text of a number, as a variable is", async () => {
    every("task", "1000" as unknown as number);
    schedule.start();
    for (const ms of [0, SECOND_MS - 1, 1, SECOND_MS]) await pass(ms);
    expect(begun).to.have.length(3);
  });

  it("is not begun without a task", () => {
    const task = { run() {} } as unknown as () => Promise<void>;
    expect(() => schedule.every("task", 1, task)).to.throw(
      TypeError,
      'schedule.every("task"): its task must be a function',
    );
  });

  it("runs soon after the start, and then at its interval", async () => {
    every("task", HOUR_MS);
    schedule.start();
    await pass(0);
    expect(begun).to.have.length(1);
    await pass(HOUR_MS - 1);
    expect(begun).to.have.length(1);
    await pass(1);
    expect(begun).to.have.length(2);
  });

  it("runs at its interval when that is longer than a timer can count", async () => {
    every("task", 60 * DAY_MS);
    schedule.start();
    await pass(0);
    for (let day = 0; day < 59; day += 1) await pass(DAY_MS);
    expect(begun).to.have.length(1);
    for (let day = 0; day < 2; day += 1) await pass(DAY_MS); // The mock begins later timers at the end of its step.
    expect(begun).to.have.length(2);
  });

  it("never runs twice at once, and holds up no other task", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    every("slow", SECOND_MS, () => promise);
    every("quick", SECOND_MS);
    schedule.start();
    for (let passed = 0; passed < 3; passed++) await pass(SECOND_MS);
    expect(begun).to.deep.equal(["slow", "quick", "quick", "quick"]);
    resolve();
    await breathe();
    await pass(SECOND_MS);
    expect(begun.filter((name) => name === "slow")).to.have.length(2);
  });

  it("is tried again with growing pauses when it fails, and then at its interval", async () => {
    every("task", HOUR_MS, async () => {
      if (begun.length < 4) throw new Error(`no ${begun.length}`);
    });
    schedule.start();
    await pass(0);
    for (const [at, pauseMs] of [30, 60, 120, 3600].map((seconds) => seconds * SECOND_MS).entries()) {
      await pass(pauseMs - 1);
      expect(begun).to.have.length(at + 1);
      await pass(1);
      expect(begun).to.have.length(at + 2);
    }
    expect(lines.map(({ level, event, task, error }) => [level, event, task, (error as Error).message])).to.deep.equal(
      ["no 1", "no 2", "no 3"].map((message) => ["warn", "schedule.failed", "task", message]),
    );
  });

  it("waits no longer after a failure than its interval", async () => {
    every("task", SECOND_MS, () => {
      throw new Error("no");
    });
    schedule.start();
    await pass(0);
    for (let runs = 2; runs < 100; runs++) {
      await pass(SECOND_MS);
      expect(begun).to.have.length(runs);
    }
  });

  it("is ended after two minutes, which is a failure", async () => {
    every("task", HOUR_MS, untilAborted);
    schedule.start();
    await pass(0);
    await pass(120 * SECOND_MS - 1);
    expect(lines).to.have.length(0);
    await pass(1);
    expect(lines).to.have.length(1);
    await pass(30 * SECOND_MS);
    expect(begun).to.have.length(2);
  });

  it("is ended by the close, which waits for it and is no failure", async () => {
    let isEnded = false;
    every("task", HOUR_MS, async (signal) => {
      await untilAborted(signal).catch(() => breathe());
      isEnded = true;
      signal.throwIfAborted();
    });
    schedule.start();
    await pass(0);
    await schedule.close();
    expect([isEnded, lines.length]).to.deep.equal([true, 0]);
    await pass(DAY_MS);
    expect(begun).to.have.length(1);
  });

  it("does not begin after the close", async () => {
    every("task", HOUR_MS);
    schedule.start();
    await schedule.close();
    schedule.start();
    await pass(DAY_MS);
    expect(begun).to.deep.equal([]);
  });

  it("is waited for at its end for some seconds, and no longer, however often it is ended", async () => {
    every("deaf", SECOND_MS, () => new Promise(() => {}));
    schedule.start();
    await pass(0);
    let isClosed = false;
    const closing = schedule.close().then(() => {
      isClosed = true;
    });
    await pass(4 * SECOND_MS);
    expect(isClosed).to.equal(false);
    await pass(SECOND_MS);
    await Promise.all([closing, schedule.close()]);
    expect(lines.map(({ event, task }) => [event, task])).to.deep.equal([["schedule.not-ended", "deaf"]]);
  });
});
