import type { DatabaseSync } from "node:sqlite";
import type { Durability } from "../../core/store.ts";
import { isBusy, isSqliteError } from "../sqlite-errors.ts";

/** Writes that share transactions, so that one fsync serves all of them. */
export interface Commits {
  /**
   * Runs `work` inside a transaction, after everything that was asked for before, and fulfils once that is on disk.
   * When the disk or the lock refuses, all works of the transaction are rolled back and reject; a TypeError that `work`
   * throws before it has written anything is its own alone.
   */
  run<T>(key: string, work: () => T, durability?: Durability): Promise<T>;
  /** Reads at once, or in its turn where something is still to be run for the key (without one: anything at all). */
  read<T>(key: string | undefined, work: () => T): Promise<T>;
  /** Fulfils when nothing is left to be run. */
  drain(): Promise<void>;
}

interface Task {
  readonly key: string;
  readonly durability: Durability;
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Answer = () => void;

/** How long another process may hold the lock. */
const PATIENCE_MS = 2000;
/** A transaction blocks the event loop: about a millisecond of work, and one fsync. */
const MOST_TASKS = 256;

/** @param sweep is run in each transaction, last. */
export function createCommits(db: DatabaseSync, sweep: () => void): Commits {
  let waiting: Task[] = [];
  let keys = new Set<string>();
  let isScheduled = false;
  let busySince: number | undefined;
  let synced: "NORMAL" | "FULL" | undefined;
  const onIdle: (() => void)[] = [];

  const schedule = (delayMs?: number): void => {
    isScheduled = true;
    if (delayMs === undefined) setImmediate(commit);
    else setTimeout(commit, delayMs);
  };

  /** In a write-ahead log, FULL syncs it at each commit; NORMAL leaves that to the next FULL one. */
  function sync(mode: "NORMAL" | "FULL"): void {
    if (mode !== synced) db.exec(`PRAGMA synchronous = ${mode}`);
    synced = mode;
  }

  /** Whatever arrives in one turn of the event loop is committed together at its end. */
  function commit(): void {
    isScheduled = false;
    const tasks = waiting.slice(0, MOST_TASKS);
    try {
      sync(tasks.every(({ durability }) => durability === "lazy") ? "NORMAL" : "FULL");
      finish(tasks.length, runAll(db, tasks, sweep));
    } catch (error) {
      if (isBusy(error)) tryAgain(error);
      else finish(tasks.length, toRejections(tasks, error));
    }
  }

  function tryAgain(error: unknown): void {
    busySince ??= performance.now();
    if (performance.now() - busySince > PATIENCE_MS) finish(waiting.length, toRejections(waiting, error));
    else schedule(5 + Math.random() * 20);
  }

  function finish(count: number, answers: readonly Answer[]): void {
    busySince = undefined;
    waiting = waiting.slice(count);
    keys = new Set(waiting.map(({ key }) => key));
    for (const answer of answers) answer();
    if (waiting.length > 0) schedule();
    else for (const idle of onIdle.splice(0)) idle();
  }

  function run<T>(key: string, work: () => T, durability: Durability = "durable"): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    waiting.push({ key, durability, work, resolve: resolve as Task["resolve"], reject });
    keys.add(key);
    if (!isScheduled) schedule();
    return promise;
  }

  return {
    run,
    async read(key, work) {
      try {
        if (key === undefined ? waiting.length === 0 : !keys.has(key)) return work();
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
      return run(key ?? "", work, "lazy");
    },
    drain: () => (waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))),
  };
}

const toRejections = (tasks: readonly Task[], error: unknown): Answer[] =>
  tasks.map((task) => () => task.reject(error));

/** Runs all tasks in one transaction. @returns what to tell each, now that it is on disk. */
function runAll(db: DatabaseSync, tasks: readonly Task[], sweep: () => void): Answer[] {
  db.exec("BEGIN IMMEDIATE");
  try {
    const answers = tasks.map(({ work, resolve, reject }) => {
      try {
        const value = work();
        return () => resolve(value);
      } catch (error) {
        if (isSqliteError(error)) throw error;
        return () => reject(error);
      }
    });
    sweep();
    db.exec("COMMIT");
    return answers;
  } catch (error) {
    // SQLite has rolled back by itself where the disk was full.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
