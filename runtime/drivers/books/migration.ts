import type { DatabaseSync } from "node:sqlite";
import type { BookEvent, BookTally, SaleTimes } from "../../core/books/events.ts";
import { toDecimal } from "../../core/set/price.ts";
import { packHex } from "./packing.ts";
import { BOOK_TABLES, NANO_DECIMALS } from "./schema.ts";
import { type BookTables, createBookTables } from "./tables.ts";
import { transact } from "./transactions.ts";

/**
 * Creates the missing tables of a book. Migrates the tables of the first version, whose lines were in `book`, all or
 * nothing. @throws when another process holds the lock, or the disk is full.
 */
export function prepareTables(db: DatabaseSync): void {
  db.exec(BOOK_TABLES);
  if (!hasFirstForm(db)) return;
  transact(db, () => {
    if (hasFirstForm(db)) takeOver(db, createBookTables(db)); // Another process may have migrated it meanwhile.
  });
}

const FIRST_FORM = ["book", "book_hours", "book_days", "book_buyers", "book_tallies"];
const BATCH = 500;

const hasFirstForm = (db: DatabaseSync): boolean =>
  db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'book'").get() !== undefined;

function takeOver(db: DatabaseSync, tables: BookTables): void {
  const isNew = db.prepare("SELECT 1 FROM book_lines LIMIT 1").get() === undefined;
  const read = db.prepare(`SELECT book.id, kind, sale, at, amount, CAST(nano AS TEXT) AS nano, payer, tx, request, job,
      times, service, door, rail, network, asset, decimals, receiver, set_digest
    FROM book JOIN book_terms ON book_terms.id = book.terms WHERE seq > ? AND seq <= ? ORDER BY seq`);
  const { last } = db.prepare("SELECT coalesce(max(seq), 0) AS last FROM book").get() as { last: number };
  for (let from = 0; from < last; from += BATCH)
    tables.take(read.all(from, from + BATCH).map((row) => toEvent(row as unknown as FirstLine)));
  if (isNew) keepBuyers(db);
  for (const tally of db.prepare("SELECT * FROM book_tallies").all()) tables.count([tally as unknown as BookTally]);
  for (const table of FIRST_FORM) db.exec(`DROP TABLE IF EXISTS ${table}`);
}

/** Keeps the buyers' totals, which also count lines that were deleted since. */
function keepBuyers(db: DatabaseSync): void {
  const read = db.prepare("SELECT payer, first_at, count, nano FROM book_buyers");
  read.setReadBigInts(true);
  const write = db.prepare("UPDATE book_payers SET first_at = ?2, count = ?3, nano = ?4 WHERE payer = ?1");
  for (const row of read.all()) {
    const { payer, first_at: firstAt, count, nano } = row;
    write.run(packHex(String(payer)), firstAt as bigint, count as bigint, nano as bigint);
  }
}

/** A line of the first version. */
interface FirstLine {
  readonly id: string;
  readonly kind: BookEvent["kind"];
  readonly sale: string | null;
  readonly at: number;
  readonly amount: string;
  readonly nano: string | null;
  readonly payer: string | null;
  readonly tx: string;
  readonly request: string | null;
  readonly job: string | null;
  /** JSON. */
  readonly times: string | null;
  readonly service: string;
  readonly door: string | null;
  readonly rail: string;
  readonly network: string;
  readonly asset: string;
  readonly decimals: number | null;
  readonly receiver: string | null;
  readonly set_digest: string | null;
}

function toEvent(line: FirstLine): BookEvent {
  const { kind, id, at, service, network, asset, amount, payer, job, tx: transaction } = line;
  if (kind === "refund") return { kind, id, at, job: job ?? "", service, network, asset, amount, payer, transaction };
  if (kind !== "sale") return { kind, id, at, sale: line.sale ?? "" };
  const { door, rail, decimals, receiver, request: requestId, set_digest: set, nano, times } = line;
  return {
    kind,
    id,
    at,
    service,
    rail,
    network,
    asset,
    amount,
    payer,
    transaction,
    requestId,
    job,
    set,
    // A sale's line always has all of its terms.
    ...({ door, decimals, receiver } as Pick<BookEvent & { kind: "sale" }, "door" | "decimals" | "receiver">),
    usd: toDecimal(BigInt(nano ?? 0), NANO_DECIMALS),
    times: times === null ? null : (JSON.parse(times) as SaleTimes),
  };
}
