import type { DatabaseSync } from "node:sqlite";

/**
 * Rows are stored in the order of writing; only the small index is in key order. A payment's entries then share pages,
 * and a commit takes half as long as with rows in key order.
 */
export const ENTRIES = `
  CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL, expires INTEGER
  ) STRICT;
  CREATE INDEX IF NOT EXISTS entries_expires ON entries (expires) WHERE expires IS NOT NULL;`;

/** The keys of one page of a list. */
export const PAGE = 500;
const SWEEP_MOST = 200;
/** Comes after every byte of UTF-8. */
const LAST = Buffer.from([0xff]);

/** An entry; `expires` in Unix milliseconds. */
export type Entry = readonly [value: string, expires: number | null];

/** The entries by key. Call the methods inside a transaction. Expired entries are not found. */
export interface Entries {
  read(key: string): Entry | undefined;
  /** Whether the entry has more than so many bytes; does not read them. */
  isLarger(key: string, bytes: number): boolean;
  write(key: string, text: string, expires: number | null): void;
  /** Writes an entry if the key has none. @returns whether it was written */
  add(key: string, text: string, expires: number | null): boolean;
  /** @returns whether the entry existed, expired or not */
  remove(key: string): boolean;
  /** Removes an entry that has this text. */
  drop(key: string, text: string): void;
  /** The first keys with this prefix, or the first ones after a key, in the order of their UTF-8 bytes. */
  list(prefix: string, after: string | undefined): readonly string[];
  /** Deletes some expired entries. @returns whether more are left */
  sweep(): boolean;
}

/** Prepares the statements. @param now Unix milliseconds */
export function createEntries(db: DatabaseSync, now: () => number): Entries {
  const live = "(expires IS NULL OR expires > ?)";
  const readOne = db.prepare(`SELECT value, expires FROM entries WHERE key = ? AND ${live}`);
  readOne.setReturnArrays(true);
  const measure = db.prepare("SELECT 1 FROM entries WHERE key = ? AND octet_length(value) > ?");
  const put = "INSERT INTO entries (key, value, expires) VALUES (?, ?, ?) ON CONFLICT (key)";
  const set = "DO UPDATE SET value = excluded.value, expires = excluded.expires";
  const write = db.prepare(`${put} ${set}`);
  const add = db.prepare(`${put} ${set} WHERE entries.expires <= ?`);
  const remove = db.prepare("DELETE FROM entries WHERE key = ?");
  const drop = db.prepare("DELETE FROM entries WHERE key = ? AND value = ?");
  // Without an end, the list would go on through all that has expired behind it.
  const rest = `key < CAST(? AS TEXT) AND ${live} ORDER BY key LIMIT ${PAGE}`;
  const beyond = db.prepare(`SELECT key FROM entries WHERE key > ? AND ${rest}`);
  const from = db.prepare(`SELECT key FROM entries WHERE key >= ? AND ${rest}`);
  const sweep = db.prepare(
    `DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE expires <= ? LIMIT ${SWEEP_MOST})`,
  );
  return {
    read: (key) => readOne.get(key, now()) as Entry | undefined,
    isLarger: (key, bytes) => measure.get(key, bytes) !== undefined,
    write: (key, text, expires) => void write.run(key, text, expires),
    add: (key, text, expires) => add.run(key, text, expires, now()).changes === 1,
    remove: (key) => remove.run(key).changes > 0,
    drop: (key, text) => void drop.run(key, text),
    list: (prefix, after) =>
      (after === undefined ? from : beyond)
        .all(after ?? prefix, Buffer.concat([Buffer.from(prefix), LAST]), now())
        .map(({ key }) => key as string),
    sweep: () => sweep.run(now()).changes === SWEEP_MOST,
  };
}
