import type { DatabaseSync } from "node:sqlite";
import type { Durability } from "../../core/store.ts";
import { isBusy, isSqliteError } from "../sqlite-errors.ts";
import type { Syncs } from "./sqlite-sync.ts";

/** Writes that share transactions, and syncs of the disk. */
export interface Commits {
  /**
   * Runs `work` inside a transaction, after everything that was asked for before, and fulfils once that is as durable as
   * was asked for; others see it a moment before. When the disk or the lock refuses, all works of the transaction are
   * rolled back and reject; a TypeError that `work` throws before it has written anything is its own alone. When the disk
   * refuses the sync, the durable ones reject, and may be there all the same.
   */
  run<T>(key: string, work: () => T, durability?: Durability): Promise<T>;
  /** Reads at once, or in its turn where something is still to be run for the key (without one: anything at all). */
  read<T>(key: string | undefined, work: () => T): Promise<T>;
  /** Fulfils when nothing is left to be run or synced. */
  drain(): Promise<void>;
}

interface Task {
  readonly key: string;
  readonly durability: Durability;
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What a task came to in its transaction. */
type Ran = { readonly task: Task } & ({ readonly value: unknown } | { readonly error: unknown });

/** How long another process may hold the lock. */
const PATIENCE_MS = 2000;
/** A transaction blocks the event loop, and other processes: about a millisecond. */
const MOST_TASKS = 256;

/** @param sweep is run in each transaction, last. */
export function createCommits(db: DatabaseSync, syncs: Pick<Syncs, "sync">, sweep: () => void): Commits {
  const runAll = createTransactions(db, sweep);
  let waiting: Task[] = [];
  let keys = new Set<string>();
  let isScheduled = false;
  let busySince: number | undefined;
  let unsettled = 0;
  const onIdle: (() => void)[] = [];

  const schedule = (delayMs?: number): void => {
    isScheduled = true;
    if (delayMs === undefined) setImmediate(commit);
    else setTimeout(commit, delayMs);
  };

  /** Whatever arrives in one turn of the event loop is committed together at its end. */
  function commit(): void {
    isScheduled = false;
    const tasks = waiting.slice(0, MOST_TASKS);
    try {
      finish(runAll(tasks));
    } catch (error) {
      if (isBusy(error)) tryAgain(error);
      else finish(tasks.map((task) => ({ task, error })));
    }
  }

  function tryAgain(error: unknown): void {
    busySince ??= performance.now();
    if (performance.now() - busySince > PATIENCE_MS) finish(waiting.map((task) => ({ task, error })));
    else schedule(1 + Math.random() * 4);
  }

  function finish(ran: readonly Ran[]): void {
    busySince = undefined;
    waiting = waiting.slice(ran.length);
    keys = new Set(waiting.map(({ key }) => key));
    const { true: durable, false: told } = Object.groupBy(ran, awaitsSync);
    if (durable) void syncThenTell(durable);
    told?.forEach(tell);
    if (waiting.length > 0) schedule();
  }

  async function syncThenTell(ran: readonly Ran[]): Promise<void> {
    const failed = await syncs.sync().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    for (const one of ran) tell(failed ? { task: one.task, ...failed } : one);
  }

  function tell(one: Ran): void {
    if ("value" in one) one.task.resolve(one.value);
    else one.task.reject(one.error);
    unsettled -= 1;
    if (unsettled === 0) for (const idle of onIdle.splice(0)) idle();
  }

  function run<T>(key: string, work: () => T, durability: Durability = "durable"): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    waiting.push({ key, durability, work, resolve: resolve as Task["resolve"], reject });
    unsettled += 1;
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
    drain: () => (unsettled === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))),
  };
}

const awaitsSync = (one: Ran): "true" | "false" =>
  "value" in one && one.task.durability === "durable" ? "true" : "false";

/** Runs all tasks in one transaction. */
function createTransactions(db: DatabaseSync, sweep: () => void): (tasks: readonly Task[]) => Ran[] {
  const [begin, commit] = [db.prepare("BEGIN IMMEDIATE"), db.prepare("COMMIT")];
  return (tasks) => {
    begin.run();
    try {
      const ran = tasks.map(attempt);
      sweep();
      commit.run();
      return ran;
    } catch (error) {
      // SQLite has rolled back by itself where the disk was full.
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  };
}

function attempt(task: Task): Ran {
  try {
    return { task, value: task.work() };
  } catch (error) {
    if (isSqliteError(error)) throw error;
    return { task, error };
  }
}
