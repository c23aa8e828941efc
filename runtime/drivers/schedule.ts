import type { Log, Schedule } from "../api/capabilities.ts";
import { once } from "../core/once.ts";
import { LONGEST_TIMER_MS } from "../core/time/deadline.ts";
import { createIdleTimeout } from "./http/idle-timeout.ts";

/** The tasks of plugins. They run from `start` on, and must be closed. */
export interface OpenSchedule extends Schedule {
  start(): void;
  /** Aborts the running tasks and waits for their end: for some seconds, since a plugin may not heed its signal. */
  close(): Promise<void>;
}

interface Task {
  readonly name: string;
  readonly intervalMs: number;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** The timeout of one run of a task. */
const RUN_MS = 120_000;
/** The delay after a failed run; doubled after each further failure, up to the task's interval. */
const RETRY_MS = 30_000;
/** How long a running task may take to end when it is aborted. */
const END_MS = 5000;

/** Each task has its own timer, which does not keep the process alive. */
export function createSchedule({ log }: { readonly log: Log }): OpenSchedule {
  const tasks: Task[] = [];
  const timers = new Set<NodeJS.Timeout>();
  /** The names of the tasks that run. */
  const running = new Map<Promise<void>, string>();
  const closing = new AbortController();

  return {
    every(name, interval, run) {
      const call = `schedule.every(${JSON.stringify(name)})`;
      // Variables are texts, also of numbers. A timer would take anything else for a millisecond.
      const intervalMs = typeof interval === "string" && /\d/.test(interval) ? Number(interval) : interval;
      if (typeof intervalMs !== "number" || !(intervalMs >= 0))
        throw new RangeError(`${call}: its interval must be a number of milliseconds, such as 60_000`);
      if (typeof run !== "function") throw new TypeError(`${call}: its task must be a function`);
      tasks.push({ name, intervalMs, run });
    },
    start() {
      for (const task of tasks) wait(task, 0, 0);
    },
    close: once(end),
  };

  async function end(): Promise<void> {
    closing.abort();
    for (const timer of timers) clearTimeout(timer);
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, END_MS);
    await Promise.race([Promise.all(running.keys()), late]);
    clearTimeout(timer);
    for (const task of running.values()) log.warn("schedule.not-ended", { task });
  }

  /** @param failures how many runs of the task have failed in a row */
  function wait(task: Task, ms: number, failures: number): void {
    if (closing.signal.aborted) return;
    const first = Math.min(ms, LONGEST_TIMER_MS);
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (ms > first) return wait(task, ms - first, failures);
      const run = runOnce(task, failures);
      running.set(run, task.name);
      void run.finally(() => running.delete(run));
    }, first).unref();
    timers.add(timer);
  }

  async function runOnce(task: Task, failures: number): Promise<void> {
    const { name, intervalMs } = task;
    const timeout = createIdleTimeout(RUN_MS, closing.signal);
    try {
      await task.run(timeout.signal);
      wait(task, intervalMs, 0);
    } catch (error) {
      if (!closing.signal.aborted) log.warn("schedule.failed", { task: name, error });
      wait(task, Math.min(RETRY_MS * 2 ** failures, intervalMs), failures + 1);
    } finally {
      timeout.end();
    }
  }
}
