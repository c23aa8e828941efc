import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  type BookEvent,
  type BookTally,
  type RefundEvent,
  type ReversalEvent,
  type SaleEvent,
  SIGNS,
} from "../../core/books/events.ts";
import { toAtomic } from "../../core/set/price.ts";

/** Takes events into the tables. To be called inside a transaction. */
export interface BookTables {
  /** Enters an event, unless its id is there already. */
  enter(event: BookEvent): void;
  count(tallies: readonly BookTally[]): void;
  /**
   * Takes out some of the lines that are older than `before` (Unix milliseconds; 0: none), and all tallies before a minute.
   * @returns whether there are more such lines.
   */
  forget(before: number, tallyMinute: number): boolean;
}

/**
 * What stays the same from sale to sale is in `book_terms`. Sums by hour, by day and by buyer are kept while lines are entered, in
 * the same transaction. Amounts of 18 decimals are too large for sums of 64 bits: they are kept as two numbers,
 * `giga` × 10⁹ + `rest`. `nano` is in thousand-millionths of a dollar.
 */
export const BOOK_TABLES = `
  CREATE TABLE IF NOT EXISTS book_terms (
    id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, service TEXT NOT NULL, door TEXT, rail TEXT NOT NULL,
    network TEXT NOT NULL, asset TEXT NOT NULL, decimals INTEGER, receiver TEXT, set_digest TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS book (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, sale TEXT, at INTEGER NOT NULL,
    terms INTEGER NOT NULL, amount TEXT NOT NULL, nano INTEGER, payer TEXT, tx TEXT NOT NULL, request TEXT, job TEXT, times TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS book_at ON book (at);
  CREATE INDEX IF NOT EXISTS book_payer ON book (payer, at) WHERE payer IS NOT NULL;
  CREATE INDEX IF NOT EXISTS book_tx ON book (tx) WHERE tx != '';
  CREATE INDEX IF NOT EXISTS book_request ON book (request) WHERE request IS NOT NULL;
  CREATE INDEX IF NOT EXISTS book_job ON book (job) WHERE job IS NOT NULL;
  CREATE INDEX IF NOT EXISTS book_sale ON book (sale) WHERE sale IS NOT NULL;
  CREATE TABLE IF NOT EXISTS book_hours (
    hour INTEGER NOT NULL, terms INTEGER NOT NULL, kind TEXT NOT NULL,
    count INTEGER NOT NULL, giga INTEGER NOT NULL, rest INTEGER NOT NULL, nano INTEGER NOT NULL,
    PRIMARY KEY (hour, terms, kind)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS book_days (
    day INTEGER NOT NULL, terms INTEGER NOT NULL, kind TEXT NOT NULL,
    count INTEGER NOT NULL, giga INTEGER NOT NULL, rest INTEGER NOT NULL, nano INTEGER NOT NULL,
    PRIMARY KEY (day, terms, kind)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS book_buyers (
    payer TEXT PRIMARY KEY, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, count INTEGER NOT NULL, nano INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS book_tallies (
    minute INTEGER NOT NULL, service TEXT NOT NULL, door TEXT NOT NULL, rail TEXT NOT NULL, what TEXT NOT NULL,
    count INTEGER NOT NULL, PRIMARY KEY (minute, service, door, rail, what)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS book_place (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;`;

/** The number by which amounts are kept as two. */
export const GIGA = 1_000_000_000n;
/** Dollars are kept in thousand-millionths. */
export const NANO_DECIMALS = 9;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const FORGET_MOST = 500;

const SALE = "SELECT id, terms, amount, nano, payer, tx, request, job FROM book";

export function createBookTables(db: DatabaseSync): BookTables {
  const insert = db.prepare(
    `INSERT INTO book (id, kind, sale, at, terms, amount, nano, payer, tx, request, job, times)
     VALUES (:id, :kind, :sale, :at, :terms, :amount, :nano, :payer, :tx, :request, :job, :times)
     ON CONFLICT (id) DO NOTHING`,
  );
  const findTerms = db.prepare("SELECT id FROM book_terms WHERE text = ?");
  const addTerms = db.prepare(
    `INSERT INTO book_terms (text, service, door, rail, network, asset, decimals, receiver, set_digest)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const [addHour, addDay] = (["hour", "day"] as const).map((unit) =>
    db.prepare(
      `INSERT INTO book_${unit}s VALUES (?, ?, ?, 1, ?, ?, ?) ON CONFLICT (${unit}, terms, kind) DO UPDATE SET
         count = count + 1, giga = giga + excluded.giga, rest = rest + excluded.rest, nano = nano + excluded.nano`,
    ),
  ) as [StatementSync, StatementSync];
  const addBuyer = db.prepare(
    `INSERT INTO book_buyers VALUES (?1, ?2, ?2, ?3, ?4) ON CONFLICT (payer) DO UPDATE SET
       first_at = min(first_at, ?2), last_at = max(last_at, ?2), count = count + ?3, nano = nano + ?4`,
  );
  const byId = db.prepare(`${SALE} WHERE id = ?`);
  const byJob = db.prepare(`${SALE} WHERE job = ? AND kind = 'sale'`);
  for (const statement of [byId, byJob]) statement.setReadBigInts(true);
  const addTally = db.prepare(
    `INSERT INTO book_tallies VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (minute, service, door, rail, what) DO UPDATE SET count = count + excluded.count`,
  );
  const forgetLines = db.prepare(
    `DELETE FROM book WHERE seq IN (SELECT seq FROM book WHERE at < ? ORDER BY at LIMIT ${FORGET_MOST})`,
  );
  const forgetHours = db.prepare("DELETE FROM book_hours WHERE hour < ?");
  const forgetDays = db.prepare("DELETE FROM book_days WHERE day < ?");
  const forgetBuyers = db.prepare("DELETE FROM book_buyers WHERE last_at < ?");
  const forgetTallies = db.prepare("DELETE FROM book_tallies WHERE minute < ?");

  return {
    enter(event) {
      if (event.kind === "sale") enterSale(event);
      else if (event.kind === "refund") enterRefund(event);
      else enterReversal(event);
    },
    count(tallies) {
      for (const { minute, service, door, rail, what, count } of tallies)
        addTally.run(minute, service, door, rail, what, count);
    },
    forget(before, tallyMinute) {
      forgetTallies.run(tallyMinute);
      if (before <= 0) return false;
      forgetHours.run(Math.floor(before / HOUR_MS));
      forgetDays.run(Math.floor(before / DAY_MS));
      forgetBuyers.run(before);
      return forgetLines.run(before).changes === FORGET_MOST;
    },
  };

  function enterSale(sale: SaleEvent): void {
    const { service, door, rail, network, asset, decimals, receiver, set, usd, transaction, requestId, times } = sale;
    const terms = termsOf([service, door, rail, network, asset, decimals, receiver, set]);
    const { id, kind, at, amount, payer, job } = sale;
    const kept = times && JSON.stringify(times);
    const nano = toNano(usd);
    enterLine({
      id,
      kind,
      sale: null,
      at,
      terms,
      amount,
      nano,
      payer,
      tx: transaction,
      request: requestId,
      job,
      times: kept,
    });
  }

  function enterRefund({
    id,
    kind,
    at,
    job,
    service,
    network,
    asset,
    amount,
    payer,
    transaction: tx,
  }: RefundEvent): void {
    const sold = byJob.get(job) as SaleRow | undefined;
    const terms = sold?.terms ?? termsOf([service, null, network, network, asset, null, null, null]);
    const { nano = null, request = null } = sold ?? {};
    enterLine({
      id,
      kind,
      sale: sold?.id ?? null,
      at,
      terms,
      amount,
      nano,
      payer: sold?.payer ?? payer,
      tx,
      request,
      job,
      times: null,
    });
  }

  /** One that has no sale says nothing: the settlement was never believed. */
  function enterReversal({ id, kind, at, sale }: ReversalEvent): void {
    const sold = byId.get(sale) as SaleRow | undefined;
    if (sold) enterLine({ ...sold, id, kind, sale, at, times: null });
  }

  function enterLine(line: LineRow): void {
    if (insert.run({ ...line }).changes === 0) return;
    const { kind, at, terms, payer } = line;
    const amount = BigInt(line.amount);
    const nano = line.nano ?? 0n;
    const sums = [terms, kind, amount / GIGA, amount % GIGA, nano] as const;
    addHour.run(Math.floor(at / HOUR_MS), ...sums);
    addDay.run(Math.floor(at / DAY_MS), ...sums);
    const sign = SIGNS[kind];
    if (payer !== null) addBuyer.run(payer, at, kind === "refund" ? 0 : sign, nano * BigInt(sign));
  }

  function termsOf(terms: readonly (string | number | null)[]): number | bigint {
    const text = JSON.stringify(terms);
    const known = findTerms.get(text) as { id: number } | undefined;
    return known?.id ?? addTerms.run(text, ...terms).lastInsertRowid;
  }
}

/** What later lines take over from their sale. */
interface SaleRow {
  readonly id: string;
  readonly terms: number | bigint;
  readonly amount: string;
  readonly nano: bigint | null;
  readonly payer: string | null;
  readonly tx: string;
  readonly request: string | null;
  readonly job: string | null;
}

interface LineRow extends SaleRow {
  readonly kind: BookEvent["kind"];
  readonly sale: string | null;
  readonly at: number;
  /** JSON. */
  readonly times: string | null;
}

/** Dollars, decimal text, in thousand-millionths; finer digits are cut off. */
const toNano = (usd: string): bigint => toAtomic(usd, 18) / 10n ** BigInt(18 - NANO_DECIMALS);
