import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Problem } from "../../api/problem.ts";
import type { Books } from "../../core/books/books.ts";
import { openProjection, type ProjectionOptions } from "./projection.ts";
import { type BookQuestions, createBookQuestions } from "./questions.ts";

export type OpenBooksOptions =
  | {
      /** The embedded store's file. A server may be writing to it. */
      readonly file: string;
    }
  | ProjectionOptions;

/** How long a lock is waited for. */
const BUSY_MS = 2000;

/** Opens the shop's book for questions. @throws Problem `unavailable` when it cannot be opened, or is not there yet. */
export async function openBooks(options: OpenBooksOptions): Promise<Books> {
  if ("redisUrl" in options) {
    const { db, refresh, close } = await openProjection(options);
    return { ...createBookQuestions(db), refresh, close };
  }
  const { file } = options;
  if (!existsSync(file)) throw new Problem("unavailable", `There is no store ${file}`);
  const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS });
  return { ...ask(db, file), refresh: async () => {}, close: async () => db.close() };
}

function ask(db: DatabaseSync, file: string): BookQuestions {
  try {
    return createBookQuestions(db);
  } catch (cause) {
    db.close();
    const reason = (cause as Error).message;
    throw new Problem("unavailable", `${file} holds no book that can be read: ${reason}`, { cause });
  }
}
