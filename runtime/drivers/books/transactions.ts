import type { DatabaseSync } from "node:sqlite";

/** Does `work` in a transaction that writes. @throws what it throws, and SQLite's errors: nothing is written then. */
export function transact<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const value = work();
    db.exec("COMMIT");
    return value;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK"); // A full disk has done so already.
    throw error;
  }
}

/** Does `work` inside a transaction. What it has written is undone when it throws, and nothing else. */
export function wholly<T>(db: DatabaseSync, work: () => T): T {
  db.exec("SAVEPOINT book");
  try {
    const value = work();
    db.exec("RELEASE book");
    return value;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK TO book; RELEASE book"); // A full disk has undone all of it already.
    throw error;
  }
}
