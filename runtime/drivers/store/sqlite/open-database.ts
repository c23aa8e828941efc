import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { Problem } from "../../../api/problem.ts";
import { prepareTables } from "../../books/migration.ts";
import { checkWritable, makeFile, makeFolder, refuseLoneLog } from "../../folder.ts";
import { isBusy, isDiskError } from "../../sqlite-errors.ts";
import { ENTRIES } from "./entries.ts";
import { MEMBER_TABLE } from "./members.ts";
import { type LogFile, openLogFile } from "./sync.ts";

/** How long opening waits for a lock. Afterwards nothing blocks on a lock: busy transactions are retried later. */
const BUSY_MS = 20;
const OPEN_PATIENCE_MS = 2000;
/**
 * A file of an earlier version is rewritten once, so that it can shrink. Larger files are not: that would delay the
 * start.
 */
const MOST_REWRITTEN_PAGES = 25_000;

/**
 * `auto_vacuum` has an effect only before the first table is created. The cache is 8 MB: SQLite walks through all of it
 * after most splits of pages.
 */
const PREPARE = `
  PRAGMA auto_vacuum = INCREMENTAL;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA wal_autocheckpoint = 10000;
  PRAGMA cache_size = -8000;
  ${ENTRIES}
  ${MEMBER_TABLE}`;

/**
 * Opens the store's file and its log, and makes what is missing in them.
 * @throws Problem `unavailable` when the file cannot be opened.
 */
export async function openDatabase(file: string): Promise<{ readonly db: DatabaseSync; readonly log: LogFile }> {
  const givenUp = performance.now() + OPEN_PATIENCE_MS;
  for (;;) {
    let db: DatabaseSync | undefined;
    try {
      makeFolder(dirname(file), 0o700);
      refuseLoneLog(file);
      makeFile(file);
      checkWritable(file);
      db = new DatabaseSync(file, { timeout: BUSY_MS });
      db.exec(PREPARE);
      prepareTables(db);
      makeShrinkable(db);
      db.exec("PRAGMA busy_timeout = 0");
      const log = openLogFile(file, db);
      await log.sync(); // Of the tables, and of what an earlier process may not have synced before its end.
      return { db, log };
    } catch (cause) {
      db?.close();
      if (!isBusy(cause) || performance.now() > givenUp) {
        const why = `${(cause as Error).message}${isDiskError(cause) ? ROOM : ""}`;
        throw new Problem("unavailable", `The store ${file} cannot be opened: ${why}`, { cause });
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

const ROOM = ": its disk may be full, over a quota or broken";
/** The value of `PRAGMA auto_vacuum` for this mode. */
const INCREMENTAL = 2;
