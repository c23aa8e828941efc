import type { DatabaseSync } from "node:sqlite";
import type { Log } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import { silentLog } from "../../../core/silent-log.ts";
import type { Durability } from "../../../core/store.ts";
import { createBookTables } from "../../books/tables.ts";
import { createBookSweep } from "../book-sweep.ts";
import { type OpenStore, type TextAdapter, toStore } from "../keyv.ts";
import { createCommits } from "./commits.ts";
import { createEntries, type Entries, PAGE } from "./entries.ts";
import { createMemberTable, type MemberTable } from "./members.ts";
import { openDatabase } from "./open-database.ts";
import { createReads } from "./reads.ts";
import { type LogFile, shareSyncs } from "./sync.ts";
import { createUpkeep } from "./upkeep.ts";

export interface SqliteStoreOptions {
  /** Created with its folder, for this user alone. Several processes may open it at once. */
  readonly file: string;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** The interval of the steps that return unused space to the disk. */
  readonly upkeepMs?: number;
  /** Logs that the book cannot be read, that the file is damaged, and which records are. */
  readonly log?: Log;
}

/**
 * The interval for syncing commits of other processes: shorter than a lease, so that a dead process's writes are
 * synced.
 */
const FOREIGN_SYNC_MS = 1000;
const SWEEP_EVERY_MS = 60_000;
/** The key that a ping writes: a full disk can still be read. */
const PING = "ping";
const PING_KEEP_MS = 60_000;

/**
 * A Store in a file, through node:sqlite. Acknowledged writes are never lost. Concurrent writes share a transaction,
 * and the durable ones share a sync of the log, which blocks neither the event loop nor another process.
 * @throws Problem `unavailable` when the file cannot be opened.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<OpenStore> {
  const { file, now = Date.now, upkeepMs = 1000, log: report = silentLog } = options;
  const { db, log } = await openDatabase(file);
  const entries = createEntries(db, now);
  const members = createMemberTable(db, now);
  const sweepSome = createSweep(entries, members, now);
  const book = createBookTables(db);
  const syncs = shareSyncs(log);
  const foreign = syncForeign(db, syncs);
  const commits = createCommits(
    db,
    syncs,
    () => upkeep.note(sweepSome()),
    (error) => report.error("store.broken", { file, error }),
  );
  const reads = createReads(commits, entries);
  const upkeep = createUpkeep({
    db,
    run: (work) => commits.run("", work, "lazy"),
    cut: syncs.renew,
    everyMs: upkeepMs,
  });
  const sweep = createBookSweep({ step: () => commits.run("", book.show, "lazy"), log: report });
  sweep.note(); // An earlier process may have left events.
  const expiresIn = (ttlMs: number | undefined): number | null =>
    ttlMs === undefined ? null : Math.ceil(now() + ttlMs);

  const adapt = (durability: Durability): TextAdapter => ({
    get: reads.get,
    set: (key, text, ttlMs) => commits.run(key, () => entries.write(key, text, expiresIn(ttlMs)), durability),
    delete: (key) => commits.run(key, () => entries.remove(key), durability),
  });
  return toStore(adapt, report, {
    putIfAbsent: (key, text, ttlMs, durability) =>
      commits.run(key, () => entries.add(key, text, expiresIn(ttlMs)), durability),
    renew: (key, text, ttlMs, durability) => {
      const renew = (): boolean => {
        const known = entries.read(key)?.[0] ?? text;
        if (known === text) entries.write(key, text, expiresIn(ttlMs));
        return known === text;
      };
      return commits.run(key, renew, durability);
    },
    drop: (key, text, durability) => commits.run(key, () => entries.drop(key, text), durability),
    incr: (key, by, ttlMs, durability) => {
      const add = (): number | undefined => {
        const known = entries.read(key);
        const sum = Number(known?.[0] ?? 0) + by;
        if (!Number.isSafeInteger(sum)) return undefined;
        entries.write(key, String(sum), known ? known[1] : expiresIn(ttlMs));
        return sum;
      };
      return commits.run(key, add, durability);
    },
    join: (key, member, weight, ttlMs) =>
      commits.run(key, () => members.join(key, member, weight, Math.ceil(now() + ttlMs)), "lazy"),
    leave: (key, member) => commits.run(key, () => members.leave(key, member), "lazy"),
    enter: (event, key, text, ttlMs, durability) => {
      const enter = (): void => {
        entries.write(key, text, expiresIn(ttlMs));
        book.enter(event);
      };
      sweep.note();
      return commits.run(key, enter, durability);
    },
    count: (tallies) => commits.run("", () => book.count(tallies), "lazy"),
    forget: (before, tallyMinute) =>
      commits.run("", () => book.show() !== "nothing" || book.forget(before, tallyMinute), "lazy"),
    async page(prefix, cursor) {
      const keys = await commits.read(undefined, () => entries.list(prefix, cursor));
      const next = keys.length === PAGE ? keys.at(-1) : undefined;
      return next === undefined ? { keys } : { keys, next };
    },
    async ping() {
      await commits
        .run(PING, () => entries.write(PING, "1", expiresIn(PING_KEEP_MS)))
        .catch((cause: Error) => {
          throw new Problem("unavailable", `The store takes no writes: ${cause.message}`, { cause });
        });
    },
    warnings: sweep.warnings,
    async close() {
      upkeep.close();
      sweep.close();
      await reads.drain();
      await commits.drain();
      clearInterval(foreign);
      closeUnlessLost(db, syncs);
      syncs.close();
    },
  });
}

/**
 * A database whose files were removed or replaced is left open: its close would remove the log of those that are there now.
 * So would Node, where the process ends by itself, and not by `process.exit`.
 */
function closeUnlessLost(db: DatabaseSync, { check }: Pick<LogFile, "check">): void {
  try {
    check();
  } catch {
    process.once("exit", () => process.exit());
    return;
  }
  db.close();
}

/**
 * Sweeps once a minute, and in every transaction while more is left. @returns the sweep that each transaction runs last
 */
function createSweep(entries: Entries, members: MemberTable, now: () => number): () => boolean {
  let sweptAt = Number.NEGATIVE_INFINITY;
  return () => {
    const at = now();
    if (Math.abs(at - sweptAt) < SWEEP_EVERY_MS) return false; // Absolute: a clock that was set back delays nothing.
    members.sweep();
    const hasMore = entries.sweep();
    if (!hasMore) sweptAt = at;
    return hasMore;
  };
}

/** Syncs commits of other processes, which may have died before their own sync. */
function syncForeign(db: DatabaseSync, syncs: LogFile): NodeJS.Timeout {
  const version = db.prepare("PRAGMA data_version");
  const read = (): unknown => {
    try {
      return version.get()?.data_version;
    } catch {
      return undefined; // Another process holds the lock and writes.
    }
  };
  let known = read();
  const look = (): void => {
    const now = read();
    if (now !== known) void syncs.sync().catch(() => {}); // Failures are reported to callers that wait for a sync.
    known = now;
  };
  return setInterval(look, FOREIGN_SYNC_MS).unref();
}
