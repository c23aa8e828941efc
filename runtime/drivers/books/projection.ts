import { randomUUID } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate, setTimeout } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import type { BookEvent, BookTally } from "../../core/books/events.ts";
import type { FeeEvent } from "../../core/books/fees.ts";
import type { Forgotten } from "../../core/books/keeping.ts";
import { shareRuns } from "../../core/time/share-runs.ts";
import { checkWritable, makeFile, makeFolder } from "../folder.ts";
import { answered, createReconnection, refuseSentinel, toClientOptions, watchConnection } from "../redis-client.ts";
import { isOfValue, isSqliteError } from "../sqlite-errors.ts";
import { prepareTables } from "./migration.ts";
import { TO_EMPTY } from "./schema.ts";
import { bookStreamOf, nameKeyOf, tallyStreamOf } from "./streams.ts";
import { createBookTables } from "./tables.ts";
import { transact } from "./transactions.ts";

export interface ProjectionOptions {
  /** `redis://` or `rediss://`, with the credentials. */
  readonly redisUrl: string;
  /** The prefix of the store's keys. */
  readonly namespace: string;
  /** The file of the tables on this machine. When it is lost, it is rebuilt from the streams. */
  readonly file: string;
  /** The limits for deleting old lines, once an hour; when omitted, nothing is deleted. */
  readonly forget?: (() => Forgotten) | undefined;
  /** Whether the same thread answers calls: half of the time is then left to calls while many events are read. */
  readonly isGentle?: boolean | undefined;
  /** Called now and then with the number of events read, while the projection catches up. */
  readonly onProgress?: ((taken: number) => void) | undefined;
  /** Called with the stream and the id of each entry that is passed over, since it is no entry of this version. */
  readonly onDamaged?: ((stream: string, id: string) => void) | undefined;
}

/** The tables of a book whose events are in Redis. */
export interface Projection {
  readonly db: DatabaseSync;
  /** Reads all events that were entered before the call. @throws Problem `unavailable`. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

const BUSY_MS = 5000;
/** Entries per step. Twice as many are not faster, and need more memory. */
const STEP = 500;
/** Entries per step beside calls: some milliseconds of the thread, and half as much processor time again. */
const GENTLE_STEP = 100;
const START = "0-0";
/** Entries between two calls of `onProgress`: some seconds. */
const TOLD = 50_000;
/** The interval for deleting old lines. */
const TIDY_MS = 60 * 60_000;
const DAY_MS = 24 * TIDY_MS;

/**
 * Follows the streams of a book. Several processes of one machine may share a file: the position in the stream is
 * written in the same transaction as the events.
 * @throws Problem `unavailable` when Redis cannot be reached or is a Sentinel, or the file cannot be written.
 */
export async function openProjection(options: ProjectionOptions): Promise<Projection> {
  const { redisUrl, namespace, file, forget, onProgress, onDamaged, isGentle = false } = options;
  const most = isGentle ? GENTLE_STEP : STEP;
  const { createClient } = await import("@keyv/redis");
  const reconnection = createReconnection();
  const client = createClient(toClientOptions(redisUrl, reconnection));
  let outage: unknown;
  client.on("error", (error: unknown) => {
    outage = error; // Callers get the errors of their own calls.
  });
  const refresh = shareRuns(catchUp);
  let refreshing: Promise<void> | undefined;
  let tidiedAt = Number.NEGATIVE_INFINITY;
  let db: DatabaseSync;
  try {
    refuseSentinel(await answered(client.connect().then(() => client.info("server"))));
    db = openTables(file);
  } catch (error) {
    reconnection.end(client);
    throw error instanceof Problem ? error : unreachable(outage ?? error);
  }
  const watch = watchConnection(client, () => {});
  const tables = createBookTables(db);
  const readPlace = db.prepare("SELECT value FROM book_place WHERE name = ?");
  const writePlace = db.prepare(
    "INSERT INTO book_place VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  const placeOf = (name: string): string | undefined => (readPlace.get(name) as { value: string } | undefined)?.value;

  return {
    db,
    refresh() {
      refreshing = refresh();
      return refreshing;
    },
    async close() {
      void watch.close();
      if (client.isOpen) reconnection.end(client);
      await refreshing?.catch(() => {}); // It ends with its connection: a whole book takes minutes.
      db.close();
    },
  };

  async function catchUp(): Promise<void> {
    try {
      await checkBook();
      await follow(bookStreamOf(namespace), (texts) =>
        tables.take(texts.map((text) => JSON.parse(text) as BookEvent | FeeEvent)),
      );
      await follow(tallyStreamOf(namespace), (texts) =>
        tables.count(texts.flatMap((text) => JSON.parse(text) as BookTally[])),
      );
    } catch (cause) {
      if (isSqliteError(cause)) throw unwritten(file, cause);
      throw cause instanceof Problem ? cause : unreachable(cause);
    }
    await tidy();
  }

  /** Deletes old lines, but none that the stream still has: this folder may have another `keep_days` than the server's. */
  async function tidy(): Promise<void> {
    if (!forget || performance.now() - tidiedAt < TIDY_MS) return;
    const { before: wanted, tallyMinute } = forget();
    const [first] = await answered(client.xRange(bookStreamOf(namespace), "-", "+", { COUNT: 1 })).catch((cause) => {
      throw unreachable(cause);
    });
    const before = first ? Math.min(wanted, Math.floor(Number.parseInt(first.id, 10) / DAY_MS) * DAY_MS) : wanted;
    while (transact(db, () => tables.forget(before, tallyMinute))) await setImmediate();
    tidiedAt = performance.now();
  }

  /**
   * Compares the book's name and its place in the stream. When Redis was replaced or has lost what was read, the tables are
   * emptied: nobody else may have their lines, so a copy stays beside the file. A Redis that takes no writes can be read.
   */
  async function checkBook(): Promise<void> {
    const key = nameKeyOf(namespace);
    if (!(await answered(client.exists(key)))) await answered(client.set(key, randomUUID(), { condition: "NX" }));
    const name = await answered(client.get(key));
    const former = placeOf("name");
    if (name === null || (former === name && !(await hasLostPlace()))) return;
    if (former !== undefined) keepLines(db, `${file}.lost-${Date.now()}`);
    transact(db, () => {
      for (const table of TO_EMPTY) db.exec(`DELETE FROM ${table}`);
      writePlace.run("name", name);
    });
  }

  /** Whether the last entry read is gone and an earlier one is not, which no trimming does: a new master lacked it. */
  async function hasLostPlace(): Promise<boolean> {
    const place = placeOf(bookStreamOf(namespace));
    if (place === undefined) return false;
    const [newest] = await answered(client.xRevRange(bookStreamOf(namespace), place, "-", { COUNT: 1 }));
    return newest !== undefined && newest.id !== place;
  }

  /** Takes all entries at once; one by one when that fails because one of them is damaged or of a later version. */
  function takeIntact(stream: string, found: readonly StreamEntry[], take: (texts: readonly string[]) => void): void {
    try {
      take(found.map(({ message }) => message.e ?? "")); // What lacks the field is no JSON either.
    } catch (error) {
      if (!isOfData(error)) throw error;
      if (found.length > 1) for (const entry of found) takeIntact(stream, [entry], take);
      else onDamaged?.(stream, found[0]?.id ?? "");
    }
  }

  async function follow(stream: string, take: (texts: readonly string[]) => void): Promise<void> {
    for (let taken = most; ; taken += most) {
      const place = placeOf(stream) ?? START;
      const found = await answered(client.xRange(stream, toNext(place), "+", { COUNT: most }));
      const last = found.at(-1);
      if (!last) return;
      const began = performance.now();
      transact(db, () => {
        if ((placeOf(stream) ?? START) !== place) return; // Another process has read them.
        takeIntact(stream, found, take);
        writePlace.run(stream, last.id);
      });
      if (taken % TOLD === 0) onProgress?.(taken);
      if (isGentle && found.length === most) await setTimeout(performance.now() - began);
    }
  }
}

type StreamEntry = { readonly id: string; readonly message: Readonly<Record<string, string>> };

/** The first id after another one. Redis knows ranges without their first entry since 6.2 only. */
function toNext(id: string): string {
  const [time, number = "0"] = id.split("-");
  return `${time}-${BigInt(number) + 1n}`;
}

/** Whether the data of an entry has caused the error: it is no JSON, or a value has another type. */
const isOfData = (error: unknown): boolean =>
  error instanceof SyntaxError ||
  error instanceof TypeError ||
  error instanceof RangeError ||
  (error instanceof Error && isOfValue(error.cause));

/** Copies the tables into a new file, unless they are empty. */
function keepLines(db: DatabaseSync, copy: string): void {
  if (!db.prepare("SELECT 1 FROM book_lines LIMIT 1").get()) return;
  const draft = `${copy}.${process.pid}`; // Another process of this machine may do the same.
  makeFile(draft);
  try {
    db.prepare("VACUUM INTO ?").run(draft);
    renameSync(draft, copy);
  } finally {
    rmSync(draft, { force: true }); // On a full disk.
  }
}

/** Needs no sync: what a crash undoes is read again from the streams. */
function openTables(file: string): DatabaseSync {
  try {
    makeFolder(dirname(file), 0o700);
    makeFile(file);
    checkWritable(file);
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

const unwritten = (file: string, cause: Error): Problem =>
  new Problem("unavailable", `The copy of the book in ${file} cannot be written: ${cause.message}`, { cause });
