import type { DatabaseSync } from "node:sqlite";
import type { Durability } from "../../../core/store.ts";
import { isBusy, isDamage, isDiskError, isSqliteError } from "../../sqlite-errors.ts";
import type { LogFile } from "./sync.ts";

/** Groups writes into transactions and syncs of the disk. */
export interface Commits {
  /**
   * Runs `work` in a transaction, after all earlier works, and resolves when it has the requested durability; other
   * connections see it a moment before. When the disk or the lock refuses, all works of the transaction are rolled back
   * and reject; an error that `work` itself throws, before it has written anything, rejects only that work. When the
   * disk refuses the sync, the durable works reject, although their writes may be on disk. Once the file was found to be
   * damaged, all works reject.
   */
  run<T>(key: string, work: () => T, durability?: Durability): Promise<T>;
  /** Reads at once, unless works for the key are waiting: then in its turn. Without a key, any waiting work counts. */
  read<T>(key: string | undefined, work: () => T): Promise<T>;
  /** Resolves when nothing is left to run or to sync. */
  drain(): Promise<void>;
}

interface Task {
  readonly key: string;
  readonly durability: Durability;
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The result of a task in its transaction. */
type Ran = { readonly task: Task } & ({ readonly value: unknown } | { readonly error: unknown });

/** How long another process may hold the lock. */
const PATIENCE_MS = 2000;
/** A transaction blocks the event loop and other processes: about a millisecond with this many tasks. */
const MOST_TASKS = 256;
/** The pause after an attempt to make room on a full disk that failed. */
const ROOM_EVERY_MS = 1000;
/** A look at the files takes as long as a statement, and a paid call has four transactions. */
const LOOK_EVERY_MS = 10;

/**
 * @param sweep runs last in each transaction
 * @param onDamage is called once, with the first error that says that the file is damaged
 */
export function createCommits(
  db: DatabaseSync,
  syncs: Omit<LogFile, "close">,
  sweep: () => void,
  onDamage: (error: unknown) => void = () => {},
): Commits {
  const room = createRoom(syncs, onDamage);
  const runAll = createTransactions(db, sweep, room);
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

  /** Commits everything that arrived in one turn of the event loop together. */
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
        if (isDamage(error)) room.refused(error);
        if (!isBusy(error)) throw error;
      }
      return run(key ?? "", work, "lazy");
    },
    drain: () => (unsettled === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))),
  };
}

const awaitsSync = (one: Ran): "true" | "false" =>
  "value" in one && one.task.durability === "durable" ? "true" : "false";

/**
 * The log grows with each write, also when the database does not, and would take whatever room a full disk gets. After
 * a refused write, nothing is written before the log has been copied into the database and begun anew. Into a damaged file
 * nothing is written at all: the next write might be the one that records a payment.
 */
function createRoom(
  { check, renew }: Pick<LogFile, "check" | "renew">,
  onDamage: (error: unknown) => void,
): {
  make(): void;
  refused(error: unknown): void;
} {
  let refusal: unknown;
  let triedAt = Number.NEGATIVE_INFINITY;
  let lookedAt = Number.NEGATIVE_INFINITY;
  return {
    make() {
      const now = performance.now();
      if (now - lookedAt >= LOOK_EVERY_MS) {
        check();
        lookedAt = now;
      }
      if (refusal === undefined) return;
      if (isDamage(refusal) || performance.now() - triedAt < ROOM_EVERY_MS) throw refusal;
      try {
        renew();
        refusal = undefined;
      } catch (error) {
        refusal = isDiskError(error) ? error : undefined; // Otherwise another process reads the log, which does no harm.
        triedAt = performance.now();
        if (refusal) throw refusal;
      }
    },
    refused(error) {
      if (isDamage(error) && !isDamage(refusal)) onDamage(error);
      if (isDamage(error) || isDiskError(error)) refusal = error;
    },
  };
}

/** Runs all tasks in one transaction. */
function createTransactions(
  db: DatabaseSync,
  sweep: () => void,
  room: ReturnType<typeof createRoom>,
): (tasks: readonly Task[]) => Ran[] {
  const [begin, commit] = [db.prepare("BEGIN IMMEDIATE"), db.prepare("COMMIT")];
  return (tasks) => {
    room.make();
    begin.run();
    try {
      const ran = tasks.map(attempt);
      sweep();
      commit.run();
      return ran;
    } catch (error) {
      room.refused(error);
      // SQLite itself rolls back when the disk is full.
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
