import type { Log, Schedule } from "../api/capabilities.ts";
import { createPatience } from "./patience.ts";

/** Background work that begins when it is told to, and must be ended. */
export interface OpenSchedule extends Schedule {
  start(): void;
  /** Aborts what runs, and waits for its end. */
  close(): Promise<void>;
}

export interface ScheduleOptions {
  readonly log: Log;
  /** How long one run of a task may take. */
  readonly patienceMs?: number;
  /** Before the first repetition of a run that failed; doubled for each further one, up to the task's interval. */
  readonly retryMs?: number;
}

interface Task {
  readonly name: string;
  readonly intervalMs: number;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

const PATIENCE_MS = 120_000;
const RETRY_MS = 30_000;

export function createSchedule({ log, patienceMs = PATIENCE_MS, retryMs = RETRY_MS }: ScheduleOptions): OpenSchedule {
  const tasks: Task[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  const closing = new AbortController();

  return {
    every: (name, intervalMs, run) => void tasks.push({ name, intervalMs, run }),
    start() {
      for (const task of tasks) wait(task, 0, 0);
    },
    async close() {
      closing.abort();
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(running);
    },
  };

  /** @param failures of the task, in a row. */
  function wait(task: Task, ms: number, failures: number): void {
    if (closing.signal.aborted) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      const run = runOnce(task, failures);
      running.add(run);
      void run.finally(() => running.delete(run));
    }, ms).unref();
    timers.add(timer);
  }

  async function runOnce(task: Task, failures: number): Promise<void> {
    const { name, intervalMs } = task;
    const patience = createPatience(patienceMs, closing.signal);
    try {
      await task.run(patience.signal);
      wait(task, intervalMs, 0);
    } catch (error) {
      if (!closing.signal.aborted) log.warn("schedule.failed", { task: name, error });
      wait(task, Math.min(retryMs * 2 ** failures, intervalMs), failures + 1);
    } finally {
      patience.end();
    }
  }
}
