import type { BookEvent, BookTally } from "./books/events.ts";
import type { FeeEvent } from "./books/fees.ts";

/**
 * What a write must survive. `durable` (the default): a crash of the machine. `lazy`: a crash of the process, without
 * an fsync; for values that can be read again elsewhere, or are worthless after a crash.
 */
export type Durability = "durable" | "lazy";

/**
 * Where state is kept. Values are JSON; keys have at most 512 characters; a value without `ttlMs` never expires.
 * A write's promise resolves when the write has the requested durability. A store that cannot be reached rejects with
 * Problem `unavailable`: it never answers as if it were empty.
 */
export interface Store {
  get<T>(key: string): Promise<T | undefined>;
  set(key: string, value: unknown, ttlMs?: number, durability?: Durability): Promise<void>;
  delete(key: string, durability?: Durability): Promise<void>;
  /**
   * True when the key was absent or expired and now holds `value`; atomic across all processes that share the store.
   */
  putIfAbsent(key: string, value: unknown, ttlMs?: number, durability?: Durability): Promise<boolean>;
  /**
   * Writes as `set` does, unless the key holds another value. True when it was written; atomic across all processes
   * that share the store.
   */
  renew(key: string, value: unknown, ttlMs?: number, durability?: Durability): Promise<boolean>;
  /** Deletes the key if it holds this value; atomic across all processes that share the store. */
  drop(key: string, value: unknown, durability?: Durability): Promise<void>;
  /** Adds `by` to an integer that starts at 0 and returns the sum; `ttlMs` runs from the first increment. Atomic. */
  incr(key: string, by?: number, ttlMs?: number, durability?: Durability): Promise<number>;
  /**
   * Counts `member` under `key` with a weight, a whole number, until it leaves or `ttlMs` have passed. A member that
   * joins again counts once, with its newest weight. Returns the tally, this member included. Atomic; survives a
   * process crash.
   */
  join(key: string, member: string, weight: number, ttlMs: number): Promise<Tally>;
  leave(key: string, member: string): Promise<void>;
  /**
   * Enters an event in the shop's book and writes an entry: both or neither. An event whose id is already in the book
   * is not entered again; the entry is written in any case.
   */
  enter(event: BookEvent | FeeEvent, entry: EntryWrite): Promise<void>;
  /** Adds to the tallies of the book. A crash may lose the latest additions. */
  count(tallies: readonly BookTally[]): Promise<void>;
  /** Every live key that begins with `prefix`, unordered. For startup and slow background work. */
  keys(prefix: string): AsyncIterable<string>;
}

/** The entry that `enter` writes with an event; fields as for `set`. */
export interface EntryWrite {
  readonly key: string;
  readonly value: unknown;
  readonly ttlMs?: number | undefined;
  readonly durability?: Durability;
}

/** How many members of a key have not left, and the sum of their weights. */
export interface Tally {
  readonly members: number;
  readonly weight: number;
}
