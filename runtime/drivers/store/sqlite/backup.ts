import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { refuseLoneLog } from "../../folder.ts";

export interface BackupContents {
  readonly entries: number;
  /** The text that was stored with the backup. */
  readonly beside: string | undefined;
}

/** How long to wait for a lock; the snapshot itself waits for nobody. */
const BUSY_MS = 10_000;

/**
 * Copies a store as of one moment, while other processes read and write it. The copy is on disk when this returns.
 * @param beside text to store in the copy
 * @throws Error when a file cannot be read or written, or the copy is damaged.
 */
export function copySqlite(file: string, copy: string, beside: string | undefined): BackupContents {
  refuseLoneLog(file);
  withDatabase(file, (db) => db.prepare("VACUUM INTO ?").run(copy));
  return withDatabase(copy, (db) => {
    db.exec("CREATE TABLE beside (text TEXT NOT NULL) STRICT");
    if (beside !== undefined) db.prepare("INSERT INTO beside VALUES (?)").run(beside);
    const contents = inspect(db, copy);
    sync(copy);
    return contents;
  });
}

/**
 * Turns a copy into a store again. @returns the text that was stored in the copy
 * @throws Error when the file is not a copy of a store, or is damaged.
 */
export function unpackSqlite(copy: string): BackupContents {
  return withDatabase(copy, (db) => {
    const contents = inspect(db, copy);
    db.exec("DROP TABLE beside");
    sync(copy);
    return contents;
  });
}

/** Checks that a file is a complete copy of a store. @throws Error with the reason when it is not. */
export const inspectSqlite = (copy: string): BackupContents => withDatabase(copy, (db) => inspect(db, copy));

function inspect(db: DatabaseSync, copy: string): BackupContents {
  const found = db.prepare("PRAGMA integrity_check").all() as { integrity_check: string }[];
  const [{ integrity_check: verdict = "" } = {}] = found;
  if (verdict !== "ok") throw new Error(`${copy} is damaged: ${verdict}`);
  const { entries } = db.prepare("SELECT count(*) AS entries FROM entries").get() as { entries: number };
  const row = db.prepare("SELECT text FROM beside").get() as { text: string } | undefined;
  return { entries, beside: row?.text };
}

function withDatabase<T>(file: string, work: (db: DatabaseSync) => T): T {
  closeSync(openSync(file, "r")); // Fails when the file is missing, where SQLite would create an empty one.
  const db = new DatabaseSync(file, { timeout: BUSY_MS });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

function sync(file: string): void {
  const opened = openSync(file, "r+");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  rmSync(`${file}-journal`, { force: true });
}
