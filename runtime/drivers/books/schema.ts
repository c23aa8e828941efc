/** SQL condition of the fees whose transactions are in no line of the book. */
export const LONE = "(reverted = 1 OR purpose NOT IN ('settlement', 'refund'))";

/**
 * The tables of a book. An event is entered as one row of `book_lines`, in the same transaction as the write it belongs
 * to. The tables for queries are filled later, some hundred lines at a time, up to the line number `shown` in
 * `book_place`: `book_ids`, `book_keys` (transactions, request ids, jobs, and the numbers of sales that later lines
 * refer to), `book_times`, the payers and the sums. Queries do not see lines after that number. Terms that many sales
 * share are in `book_terms`, whose rows are never changed. Ids, hashes and addresses of the usual form are stored as
 * bytes (`packing.ts`). Steps of a sale are in milliseconds: `begun` counts back from `at`, the others count from
 * `begun`. Sums are per hour and per day. Sums of 18-decimal amounts exceed 64 bits, so amounts are two numbers: `giga`
 * × 10⁹ + `rest`. `nano` is in billionths of a dollar. `unit` is in minutes. Fees of the treasury's transactions are
 * not lines: they are written to their own tables at once.
 */
export const BOOK_TABLES = `
  CREATE TABLE IF NOT EXISTS book_terms (
    id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, service TEXT NOT NULL, door TEXT, rail TEXT NOT NULL,
    network TEXT NOT NULL, asset TEXT NOT NULL, decimals INTEGER, receiver TEXT, set_digest TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS book_lines (
    seq INTEGER PRIMARY KEY, id ANY NOT NULL, kind INTEGER NOT NULL, sale INTEGER, at INTEGER NOT NULL,
    terms INTEGER NOT NULL, amount ANY NOT NULL, nano ANY, payer ANY, tx ANY, request ANY, job ANY,
    begun INTEGER, reserved INTEGER, verified INTEGER, worked INTEGER, recorded INTEGER
  ) STRICT;
  CREATE TABLE IF NOT EXISTS book_ids (id ANY PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS book_keys (
    part INTEGER, key ANY, seq INTEGER, PRIMARY KEY (part, key, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS book_times (at INTEGER, seq INTEGER, PRIMARY KEY (at, seq)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS book_payers (
    id INTEGER PRIMARY KEY, payer ANY NOT NULL UNIQUE, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
    count INTEGER NOT NULL, nano INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS book_bought (
    payer INTEGER, at INTEGER, seq INTEGER, PRIMARY KEY (payer, at, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS book_sums (
    unit INTEGER NOT NULL, at INTEGER NOT NULL, terms INTEGER NOT NULL, kind INTEGER NOT NULL,
    count INTEGER NOT NULL, giga INTEGER NOT NULL, rest INTEGER NOT NULL, nano INTEGER NOT NULL,
    PRIMARY KEY (unit, at, terms, kind)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS book_visits (hour INTEGER PRIMARY KEY, payers BLOB NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS book_names (
    id INTEGER PRIMARY KEY, service TEXT NOT NULL, door TEXT NOT NULL, rail TEXT NOT NULL, what TEXT NOT NULL,
    UNIQUE (service, door, rail, what)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS book_counts (
    unit INTEGER NOT NULL, at INTEGER NOT NULL, name INTEGER NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (unit, at, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS book_fees (
    tx ANY NOT NULL, network TEXT NOT NULL, at INTEGER NOT NULL, amount ANY NOT NULL, symbol TEXT NOT NULL,
    decimals INTEGER NOT NULL, purpose TEXT NOT NULL, about TEXT, reverted INTEGER NOT NULL, PRIMARY KEY (tx, network)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS book_fees_at ON book_fees (at);
  CREATE INDEX IF NOT EXISTS book_fees_lone ON book_fees (at) WHERE ${LONE};
  CREATE TABLE IF NOT EXISTS book_fee_sums (
    unit INTEGER, at INTEGER, network TEXT, symbol TEXT, decimals INTEGER, purpose TEXT, reverted INTEGER,
    count INTEGER NOT NULL, giga INTEGER NOT NULL, rest INTEGER NOT NULL,
    PRIMARY KEY (unit, at, network, symbol, decimals, purpose, reverted)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS book_place (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;`;

/** What is emptied with a book. `book_terms` and `book_names` may stay: without lines and counts their rows have no effect. */
export const TO_EMPTY: readonly string[] = [
  "book_lines",
  "book_ids",
  "book_keys",
  "book_times",
  "book_payers",
  "book_bought",
  "book_sums",
  "book_visits",
  "book_counts",
  "book_place",
  "book_fees",
  "book_fee_sums",
];

/** SQL of a key in `book_keys`: the first bytes of random values, and the whole of texts, which a buyer may choose. */
export const keyOf = (value: string): string => `iif(typeof(${value}) = 'blob', substr(${value}, 1, 8), ${value})`;

/**
 * Keys are random: in one tree, each new key would touch another page. So the keys of each 65,536 lines form a part, and a
 * look-up searches every part.
 */
export const partOf = (seq: string): string => `${seq} >> 16`;

/** SQL of a table of all parts, with the column `part`. */
export const PARTS = `(WITH RECURSIVE parts (part) AS (
    SELECT ${partOf("(SELECT min(seq) FROM book_lines)")}
    UNION ALL SELECT part + 1 FROM parts WHERE part < ${partOf("(SELECT max(seq) FROM book_lines)")}
  ) SELECT part FROM parts)`;

/** The factor between `giga` and `rest`. */
export const GIGA = 1_000_000_000n;
/** Dollars are stored in billionths. */
export const NANO_DECIMALS = 9;
/** SQL of the number of the last line that queries see. */
export const SHOWN = "coalesce((SELECT CAST(value AS INTEGER) FROM book_place WHERE name = 'shown'), 0)";
export const MINUTE_MS = 60_000;
/** The units of sums and counts, in minutes. */
export const UNITS = { minute: 1, hour: 60, day: 1440 } as const;
export const HOUR_MS = UNITS.hour * MINUTE_MS;
