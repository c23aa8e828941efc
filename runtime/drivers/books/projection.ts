import { randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate, setTimeout } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import type { BookEvent, BookTally } from "../../core/books/events.ts";
import type { FeeEvent } from "../../core/books/fees.ts";
import type { Forgotten } from "../../core/books/keeping.ts";
import { answered, createReconnection, PATIENCE_MS } from "../redis-client.ts";
import { prepareTables } from "./migration.ts";
import { bookStreamOf, nameKeyOf, tallyStreamOf } from "./streams.ts";
import { createBookTables } from "./tables.ts";
import { transact } from "./transactions.ts";

export interface ProjectionOptions {
  /** `redis://` or `rediss://`, with the credentials. */
  readonly redisUrl: string;
  /** What every key of the store begins with. */
  readonly namespace: string;
  /** Where the tables are kept on this machine: they are made anew from the streams whenever they are lost. */
  readonly file: string;
  /** What is taken out once an hour; left out: nothing. */
  readonly forget?: (() => Forgotten) | undefined;
  /** Whether calls are answered by the same thread: then half of the time is theirs while very many are taken in. */
  readonly isGentle?: boolean | undefined;
  /** Told now and then how many events were taken in, while it catches up with very many. */
  readonly onProgress?: ((taken: number) => void) | undefined;
}

/** The tables of a book that is kept in Redis. */
export interface Projection {
  readonly db: DatabaseSync;
  /** Takes in what was entered since. @throws Problem `unavailable`. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

const BUSY_MS = 5000;
/** Entries of one step. Twice as many take as long, and more memory. */
const STEP = 500;
/** Beside calls: some milliseconds of the thread, and half as much processor time more. */
const GENTLE_STEP = 100;
const START = "0-0";
/** Entries between two times that progress is told: some seconds. */
const TOLD = 50_000;
/** Between two times that old lines are taken out. */
const TIDY_MS = 60 * 60_000;

/**
 * Follows the streams of a book. Several processes of a machine may do so with one file: what each has taken in is written
 * with the place in the stream where the next one goes on.
 * @throws Problem `unavailable` when Redis cannot be reached, or the file cannot be written.
 */
export async function openProjection(options: ProjectionOptions): Promise<Projection> {
  const { redisUrl, namespace, file, forget, onProgress, isGentle = false } = options;
  const most = isGentle ? GENTLE_STEP : STEP;
  const { createClient } = await import("@keyv/redis");
  const reconnection = createReconnection();
  const client = createClient({
    url: redisUrl,
    disableOfflineQueue: true,
    socket: { connectTimeout: PATIENCE_MS, socketTimeout: PATIENCE_MS, reconnectStrategy: reconnection.strategy },
  });
  client.on("error", () => {}); // Whoever asks for something is told.
  let refreshing: Promise<void> | undefined;
  let tidiedAt = Number.NEGATIVE_INFINITY;
  try {
    await answered(client.connect());
  } catch (cause) {
    reconnection.end(client);
    throw unreachable(cause);
  }
  const db = openTables(file);
  const tables = createBookTables(db);
  const readPlace = db.prepare("SELECT value FROM book_place WHERE name = ?");
  const writePlace = db.prepare(
    "INSERT INTO book_place VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  const placeOf = (name: string): string | undefined => (readPlace.get(name) as { value: string } | undefined)?.value;

  return {
    db,
    refresh() {
      refreshing ??= catchUp().finally(() => {
        refreshing = undefined;
      });
      return refreshing;
    },
    async close() {
      await refreshing?.catch(() => {});
      db.close();
      if (client.isOpen) reconnection.end(client);
    },
  };

  async function catchUp(): Promise<void> {
    try {
      await know();
      await follow(bookStreamOf(namespace), (texts) =>
        tables.take(texts.map((text) => JSON.parse(text) as BookEvent | FeeEvent)),
      );
      await follow(tallyStreamOf(namespace), (texts) =>
        tables.count(texts.flatMap((text) => JSON.parse(text) as BookTally[])),
      );
    } catch (cause) {
      throw cause instanceof Problem ? cause : unreachable(cause);
    }
    await tidy();
  }

  async function tidy(): Promise<void> {
    if (!forget || performance.now() - tidiedAt < TIDY_MS) return;
    const { before, tallyMinute } = forget();
    while (transact(db, () => tables.forget(before, tallyMinute))) await setImmediate();
    tidiedAt = performance.now();
  }

  /** A book has a name. Tables of another one are emptied: that Redis was replaced, or lost its data. */
  async function know(): Promise<void> {
    await answered(client.set(nameKeyOf(namespace), randomUUID(), { condition: "NX" }));
    const name = await answered(client.get(nameKeyOf(namespace)));
    if (name === null || placeOf("name") === name) return;
    transact(db, () => {
      for (const table of TABLES) db.exec(`DELETE FROM ${table}`);
      writePlace.run("name", name);
    });
  }

  async function follow(stream: string, take: (texts: readonly string[]) => void): Promise<void> {
    for (let taken = most; ; taken += most) {
      const place = placeOf(stream) ?? START;
      const found = await answered(client.xRange(stream, `(${place}`, "+", { COUNT: most }));
      const last = found.at(-1);
      if (!last) return;
      const began = performance.now();
      transact(db, () => {
        if ((placeOf(stream) ?? START) !== place) return; // Another process has taken them in.
        take(found.flatMap(({ message }) => message.e ?? []));
        writePlace.run(stream, last.id);
      });
      if (taken % TOLD === 0) onProgress?.(taken);
      if (isGentle && found.length === most) await setTimeout(performance.now() - began);
    }
  }
}

/** Rows of `book_terms` and `book_names` say nothing by themselves. */
const TABLES = [
  ...["book_lines", "book_ids", "book_keys", "book_times", "book_payers", "book_bought"],
  ...["book_sums", "book_visits", "book_counts", "book_place", "book_fees", "book_fee_sums"],
];

/** What a crash takes away is taken in again: nothing needs to be synced. */
function openTables(file: string): DatabaseSync {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
    const db = new DatabaseSync(file, { timeout: BUSY_MS });
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    prepareTables(db);
    return db;
  } catch (cause) {
    throw new Problem("unavailable", `The book ${file} cannot be opened: ${(cause as Error).message}`, { cause });
  }
}

const unreachable = (cause: unknown): Problem =>
  new Problem("unavailable", `The book in Redis cannot be read: ${(cause as Error).message}`, { cause, retryAfter: 1 });
