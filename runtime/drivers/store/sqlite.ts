import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import type { Durability, Tally } from "../../core/store.ts";
import { prepareTables } from "../books/migration.ts";
import { createBookTables } from "../books/tables.ts";
import { isBusy } from "../sqlite-errors.ts";
import { createBookSweep } from "./book-sweep.ts";
import { type OpenStore, type TextAdapter, toStore } from "./keyv.ts";
import { createCommits } from "./sqlite-commits.ts";
import { createSyncs, type LogFile, openLogFile, type Syncs } from "./sqlite-sync.ts";
import { createUpkeep } from "./sqlite-upkeep.ts";

export interface SqliteStoreOptions {
  /** Created, with its folder, for this user alone. Several processes may open it at once. */
  readonly file: string;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** The time between two steps that give unused space back. */
  readonly upkeepMs?: number;
}

/** How long opening waits for a lock. From then on the event loop waits for none: a transaction is tried again later. */
const BUSY_MS = 20;
/** What a process that dies leaves unsynced is synced by another one before its leases lapse. */
const FOREIGN_SYNC_MS = 1000;
/** A file of an earlier version is rewritten once, so that it can shrink; a larger one would keep the start waiting. */
const MOST_REWRITTEN_PAGES = 25_000;
const OPEN_PATIENCE_MS = 2000;
const PAGE = 500;
const SWEEP_EVERY_MS = 60_000;
const SWEEP_MOST = 200;

/**
 * Rows are kept in the order of writing, and only the small index is in the order of keys. A payment's entries share
 * pages with their neighbours, and a commit takes half as long as with rows in the order of keys. `auto_vacuum` counts
 * only before the first table is made.
 */
const PREPARE = `
  PRAGMA auto_vacuum = INCREMENTAL;
  PRAGMA journal_mode = WAL;
  PRAGMA wal_autocheckpoint = 10000;
  PRAGMA cache_size = -8000;
  CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL, expires INTEGER
  ) STRICT;
  CREATE INDEX IF NOT EXISTS entries_expires ON entries (expires) WHERE expires IS NOT NULL;`;

/**
 * A Store in a file, through node:sqlite. Nothing that was acknowledged is lost. Writes that are asked for at the same time
 * share a transaction, and the durable ones a sync of the log, which blocks nobody: not the event loop, and no process.
 * @throws Problem `unavailable` when the file cannot be opened.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<OpenStore> {
  const { file, now = Date.now, upkeepMs = 1000 } = options;
  const { db, log } = await openDatabase(file);
  const entries = createEntries(db, now);
  const book = createBookTables(db);
  const syncs = createSyncs(log);
  const foreign = syncForeign(db, syncs);
  const commits = createCommits(db, syncs, () => upkeep.note(entries.sweep()));
  const upkeep = createUpkeep({ db, run: (work) => commits.run("", work, "lazy"), everyMs: upkeepMs });
  const sweep = createBookSweep({ step: () => commits.run("", book.show, "lazy") });
  sweep.note(); // An earlier process may have left something.
  const expiresIn = (ttlMs: number | undefined): number | null =>
    ttlMs === undefined ? null : Math.ceil(now() + ttlMs);

  const adapt = (durability: Durability): TextAdapter => ({
    get: (key) => commits.read(key, () => entries.read(key)?.value),
    set: (key, text, ttlMs) => commits.run(key, () => entries.write(key, text, expiresIn(ttlMs)), durability),
    delete: (key) => commits.run(key, () => entries.remove(key), durability),
  });
  return toStore(adapt, {
    putIfAbsent: (key, text, ttlMs, durability) => {
      const put = (): boolean => {
        if (entries.read(key)) return false;
        entries.write(key, text, expiresIn(ttlMs));
        return true;
      };
      return commits.run(key, put, durability);
    },
    incr: (key, by, ttlMs, durability) => {
      const add = (): number | undefined => {
        const known = entries.read(key);
        const sum = Number(known?.value ?? 0) + by;
        if (!Number.isSafeInteger(sum)) return undefined;
        entries.write(key, String(sum), known ? known.expires : expiresIn(ttlMs));
        return sum;
      };
      return commits.run(key, add, durability);
    },
    join: (key, member, weight, ttlMs) => {
      const join = (): Tally => {
        entries.write(toMemberKey(key, member), String(weight), expiresIn(ttlMs));
        return entries.tally(toMemberKey(key, ""));
      };
      return commits.run(key, join, "lazy");
    },
    leave: (key, member) => commits.run(key, () => void entries.remove(toMemberKey(key, member)), "lazy"),
    enter: (event, key, text, ttlMs, durability) => {
      const enter = (): void => {
        entries.write(key, text, expiresIn(ttlMs));
        book.enter(event);
      };
      sweep.note();
      return commits.run(key, enter, durability);
    },
    count: (tallies) => commits.run("", () => book.count(tallies), "lazy"),
    forget: (before, tallyMinute) => commits.run("", () => book.show() || book.forget(before, tallyMinute), "lazy"),
    async page(prefix, cursor) {
      const rows = await commits.read(undefined, () => entries.list(cursor ?? prefix, cursor === undefined));
      const keys = rows.filter((key) => key.startsWith(prefix));
      const next = keys.length === PAGE ? keys.at(-1) : undefined;
      return next === undefined ? { keys } : { keys, next };
    },
    ping: () => commits.run("", () => undefined),
    async close() {
      upkeep.close();
      sweep.close();
      await commits.drain();
      clearInterval(foreign);
      syncs.close();
      db.close();
    },
  });
}

/** Members are entries of their own, next to each other in the index. A NUL stands in no other key. */
const toMemberKey = (key: string, member: string): string => `${key}\0${member}`;

interface Entry {
  readonly value: string;
  readonly expires: number | null;
}

/** The statements. What has expired is not there, whether it was swept or not. */
function createEntries(db: DatabaseSync, now: () => number) {
  const live = "(expires IS NULL OR expires > ?)";
  const readOne = db.prepare(`SELECT value, expires FROM entries WHERE key = ? AND ${live}`);
  const write = db.prepare(
    `INSERT INTO entries (key, value, expires) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires`,
  );
  const remove = db.prepare("DELETE FROM entries WHERE key = ?");
  const after = db.prepare(`SELECT key FROM entries WHERE key > ? AND ${live} ORDER BY key LIMIT ${PAGE}`);
  const from = db.prepare(`SELECT key FROM entries WHERE key >= ? AND ${live} ORDER BY key LIMIT ${PAGE}`);
  const tally = db.prepare(
    `SELECT count(*) AS members, coalesce(sum(CAST(value AS INTEGER)), 0) AS weight
     FROM entries WHERE key >= ? AND key < ? AND ${live}`,
  );
  const sweep = db.prepare(
    `DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE expires <= ? LIMIT ${SWEEP_MOST})`,
  );
  let sweptAt = Number.NEGATIVE_INFINITY;
  return {
    read: (key: string) => readOne.get(key, now()) as Entry | undefined,
    write: (key: string, text: string, expires: number | null) => void write.run(key, text, expires),
    remove: (key: string) => remove.run(key).changes > 0,
    /** The first live keys from `start` on, in the order of their UTF-8 bytes. */
    list: (start: string, isIncluded: boolean) =>
      (isIncluded ? from : after).all(start, now()).map(({ key }) => key as string),
    tally: (prefix: string) => ({ ...tally.get(prefix, `${prefix}\u{10ffff}`, now()) }) as unknown as Tally,
    /** Deletes some of what has expired, once a minute and while there is more. @returns whether there is more. */
    sweep() {
      const at = now();
      if (at - sweptAt < SWEEP_EVERY_MS) return false;
      const hasMore = sweep.run(at).changes === SWEEP_MOST;
      if (!hasMore) sweptAt = at;
      return hasMore;
    },
  };
}

/** Syncs what other processes have committed, whether they live to sync it or not. */
function syncForeign(db: DatabaseSync, syncs: Syncs): NodeJS.Timeout {
  const version = db.prepare("PRAGMA data_version");
  const read = (): unknown => {
    try {
      return version.get()?.data_version;
    } catch {
      return undefined; // Another process holds the lock, and writes.
    }
  };
  let known = read();
  const look = (): void => {
    const now = read();
    if (now !== known) void syncs.sync().catch(() => {}); // Whoever waits for a sync of their own is told.
    known = now;
  };
  return setInterval(look, FOREIGN_SYNC_MS).unref();
}

async function openDatabase(file: string): Promise<{ readonly db: DatabaseSync; readonly log: LogFile }> {
  const givenUp = performance.now() + OPEN_PATIENCE_MS;
  for (;;) {
    let db: DatabaseSync | undefined;
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      closeSync(openSync(file, "a", 0o600));
      db = new DatabaseSync(file, { timeout: BUSY_MS });
      db.exec(PREPARE);
      prepareTables(db);
      makeShrinkable(db);
      db.exec("PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 0");
      const log = openLogFile(file, db);
      await log.sync(); // An earlier process may have ended before its own.
      return { db, log };
    } catch (cause) {
      db?.close();
      if (!isBusy(cause) || performance.now() > givenUp) {
        throw new Problem("unavailable", `The store ${file} cannot be opened: ${(cause as Error).message}`, { cause });
      }
      await setTimeout(BUSY_MS);
    }
  }
}

/** @throws when another process holds the lock. */
function makeShrinkable(db: DatabaseSync): void {
  const { auto_vacuum: mode } = db.prepare("PRAGMA auto_vacuum").get() as { auto_vacuum: number };
  const { page_count: pages } = db.prepare("PRAGMA page_count").get() as { page_count: number };
  if (mode === INCREMENTAL || pages > MOST_REWRITTEN_PAGES) return;
  db.exec("PRAGMA auto_vacuum = INCREMENTAL; VACUUM");
}

/** The number of this mode of `PRAGMA auto_vacuum`. */
const INCREMENTAL = 2;
