import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate, setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Problem } from "../../api/problem.ts";
import type { Books } from "../../core/books/books.ts";
import { refuseLoneLog } from "../folder.ts";
import { isBusy } from "../sqlite-errors.ts";
import { prepareTables } from "./migration.ts";
import { openProjection, type ProjectionOptions } from "./projection.ts";
import { createBookQuestions } from "./questions.ts";
import { SHOWN } from "./schema.ts";
import { createBookTables } from "./tables.ts";
import { transact } from "./transactions.ts";

export type OpenBooksOptions =
  | {
      /** The file of the embedded store. A server may be writing to it. */
      readonly file: string;
    }
  | ProjectionOptions;

/** How long a lock may block the thread; retries go on for `PATIENCE_MS`. */
const BUSY_MS = 50;
const PATIENCE_MS = 2000;
/** A database in a file without a name, which SQLite deletes when it is closed or the process ends. */
const TEMPORARY = "";

/**
 * Opens the shop's book for queries. When the store's file cannot be written, queries read a copy of the book as it is now.
 * @throws Problem `unavailable` when it cannot be opened or does not exist yet.
 */
export async function openBooks(options: OpenBooksOptions): Promise<Books> {
  if ("redisUrl" in options) {
    const { db, refresh, close } = await openProjection(options);
    return { ...createBookQuestions(db), refresh, close };
  }
  const { file } = options;
  try {
    refuseLoneLog(file);
  } catch (cause) {
    throw unreadable(file, cause);
  }
  if (!existsSync(file)) throw new Problem("unavailable", `There is no store ${file}`);
  const isWritable = canWrite(file);
  const db = new DatabaseSync(isWritable ? file : TEMPORARY, { timeout: BUSY_MS });
  try {
    if (isWritable) {
      db.exec("PRAGMA synchronous = NORMAL"); // What a crash undoes here is done again by `show`.
      await patiently(file, () => prepareTables(db));
    } else copyTables(file, db);
    const { show } = createBookTables(db);
    const isBehind = db.prepare(`SELECT 1 FROM book_lines WHERE seq > ${SHOWN} LIMIT 1`);
    const refresh = async (): Promise<void> => {
      while (isBehind.get() && (await patiently(file, () => transact(db, show))) !== "nothing") await setImmediate();
    };
    return { ...createBookQuestions(db), refresh, close: async () => db.close() };
  } catch (cause) {
    db.close();
    throw cause instanceof Problem ? cause : unreadable(file, cause);
  }
}

/**
 * SQLite needs to write to the file, and to make its log beside it. SQLite itself tries: the system drops all locks that a
 * process has on a file when the process closes it, and a server may have the file open as its store.
 */
function canWrite(file: string): boolean {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file);
    accessSync(dirname(file), constants.W_OK);
    db.exec("BEGIN IMMEDIATE; PRAGMA user_version = 1; ROLLBACK");
    return true;
  } catch (error) {
    return isBusy(error);
  } finally {
    db?.close();
  }
}

/** Copies the tables of a book. */
function copyTables(file: string, db: DatabaseSync): void {
  db.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF");
  const verify = attach(db, file);
  const tables = db.prepare("SELECT name, sql FROM shop.sqlite_master WHERE type = 'table' AND name GLOB 'book*'");
  transact(db, () => {
    for (const { name, sql } of tables.all()) db.exec(`${sql}; INSERT INTO main.${name} SELECT * FROM shop.${name}`);
  });
  verify();
  db.exec("DETACH shop");
  prepareTables(db);
}

/**
 * Attaches a store that cannot be written as `shop`. SQLite reads its log only together with the index beside it, which a
 * running server has made. @returns a check to be called after reading, which throws when a server has begun meanwhile
 */
function attach(db: DatabaseSync, file: string): () => void {
  const { href } = pathToFileURL(file);
  const open = (mode: string): unknown => db.prepare("ATTACH ? AS shop").run(`${href}?${mode}`);
  try {
    open("mode=ro");
    return () => {};
  } catch (cause) {
    const log = `${file}-wal`;
    const { mtimeMs } = statSync(file);
    const isAlone = (): boolean => !(existsSync(log) && statSync(log).size > 0) && statSync(file).mtimeMs === mtimeMs;
    if (!isAlone()) throw withoutLog(file, cause);
    open("immutable=1");
    return () => {
      if (!isAlone()) throw unreadable(file, new Error("a server has started meanwhile"));
    };
  }
}

const withoutLog = (file: string, cause: unknown): Problem =>
  new Problem(
    "unavailable",
    `The newest sales are in ${file}-wal, which cannot be read in a folder that cannot be written: copy ${dirname(file)} to a folder of your own, and set PAYPHONE_DATA_DIR to it (the server's own user can use payphone backup instead)`,
    { cause },
  );

/** Retries while another process holds the lock. @throws Problem `unavailable`. */
async function patiently<T>(file: string, work: () => T): Promise<T> {
  const givenUp = performance.now() + PATIENCE_MS;
  for (;;)
    try {
      return work();
    } catch (cause) {
      if (!isBusy(cause) || performance.now() > givenUp) throw unreadable(file, cause);
      await setTimeout(BUSY_MS);
    }
}

const unreadable = (file: string, cause: unknown): Problem =>
  new Problem("unavailable", `The book in ${file} cannot be read: ${(cause as Error).message}`, {
    cause,
    retryAfter: 1,
  });
