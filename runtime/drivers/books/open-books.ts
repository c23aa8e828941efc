import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setImmediate, setTimeout } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import type { Books } from "../../core/books/books.ts";
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

/** Opens the shop's book for queries. @throws Problem `unavailable` when it cannot be opened or does not exist yet. */
export async function openBooks(options: OpenBooksOptions): Promise<Books> {
  if ("redisUrl" in options) {
    const { db, refresh, close } = await openProjection(options);
    return { ...createBookQuestions(db), refresh, close };
  }
  const { file } = options;
  if (!existsSync(file)) throw new Problem("unavailable", `There is no store ${file}`);
  const db = new DatabaseSync(file, { timeout: BUSY_MS });
  try {
    db.exec("PRAGMA synchronous = NORMAL"); // What a crash undoes here is done again by `show`.
    await patiently(file, () => prepareTables(db));
    const { show } = createBookTables(db);
    const isBehind = db.prepare(`SELECT 1 FROM book_lines WHERE seq > ${SHOWN} LIMIT 1`);
    const refresh = async (): Promise<void> => {
      while (isBehind.get() && (await patiently(file, () => transact(db, show)))) await setImmediate();
    };
    return { ...createBookQuestions(db), refresh, close: async () => db.close() };
  } catch (cause) {
    db.close();
    throw cause instanceof Problem ? cause : unreadable(file, cause);
  }
}

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
