import type { DatabaseSync } from "node:sqlite";
import { isBusy, isDamage, isDiskError, isSqliteError } from "../sqlite-errors.ts";

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

/**
 * Runs `work` in a savepoint of a transaction: when `work` throws, only its own writes are undone.
 * @throws what `work` throws; a plain Error in place of SQLite's for values that it refuses: SQLite's own errors would roll
 * back everything else in the transaction.
 */
export function wholly<T>(db: DatabaseSync, work: () => T): T {
  db.exec("SAVEPOINT book");
  try {
    const value = work();
    db.exec("RELEASE book");
    return value;
  } catch (error) {
    if (!db.isTransaction) throw error; // A full disk has rolled back everything.
    db.exec("ROLLBACK TO book; RELEASE book");
    if (!isSqliteError(error) || isBusy(error) || isDiskError(error) || isDamage(error)) throw error;
    throw new Error(error.message, { cause: error });
  }
}
