import type { DatabaseSync } from "node:sqlite";

/** Runs `work` in a write transaction. @throws what `work` throws, and SQLite's errors: nothing is written then. */
export function transact<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const value = work();
    db.exec("COMMIT");
    return value;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK"); // SQLite itself rolls back when the disk is full.
    throw error;
  }
}

/** Runs `work` in a savepoint of a transaction: when `work` throws, only its own writes are undone. */
export function wholly<T>(db: DatabaseSync, work: () => T): T {
  db.exec("SAVEPOINT book");
  try {
    const value = work();
    db.exec("RELEASE book");
    return value;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK TO book; RELEASE book"); // A full disk has rolled back everything.
    throw error;
  }
}
