import type { BookEvent, BookTally } from "./books/events.ts";
import type { FeeEvent } from "./books/fees.ts";

/**
 * What a write must survive. `durable` (the default): a crash of the machine. `lazy`: a crash of the process, without an
 * fsync; for what can be read again elsewhere, or is worth nothing after a crash.
 */
export type Durability = "durable" | "lazy";

/**
 * Where state lives. Values are JSON; keys have at most 512 characters; without `ttlMs` a value is kept for ever.
 * A write's promise fulfils once the write is as durable as was asked. A store that cannot be reached rejects with
 * Problem `unavailable`: it never answers as if it were empty.
 */
export interface Store {
  get<T>(key: string): Promise<T | undefined>;
  set(key: string, value: unknown, ttlMs?: number, durability?: Durability): Promise<void>;
  delete(key: string, durability?: Durability): Promise<void>;
  /** True when the key was absent (or expired) and now holds `value`; atomic across all processes that share the store. */
  putIfAbsent(key: string, value: unknown, ttlMs?: number, durability?: Durability): Promise<boolean>;
  /** Adds `by` to an integer that starts at 0 and returns the sum; `ttlMs` counts from the first increment. Atomic. */
  incr(key: string, by?: number, ttlMs?: number, durability?: Durability): Promise<number>;
  /**
   * Counts `member` under `key` with a weight, a whole number, until it leaves or `ttlMs` have passed; a member that joins
   * again counts once, with its newest weight. Gives the tally with it. Atomic; survives a crash of the process.
   */
  join(key: string, member: string, weight: number, ttlMs: number): Promise<Tally>;
  leave(key: string, member: string): Promise<void>;
  /**
   * Enters an event in the shop's book, and writes an entry with it: both or neither. An event whose id is in the book
   * already is not entered again, and the entry is written all the same.
   */
  enter(event: BookEvent | FeeEvent, entry: EntryWrite): Promise<void>;
  /** Adds to the tallies of the book. A crash may lose what was added last. */
  count(tallies: readonly BookTally[]): Promise<void>;
  /** Every live key that begins with `prefix`, unordered. For start-up and slow background work. */
  keys(prefix: string): AsyncIterable<string>;
}

/** An entry as `set` writes it. */
export interface EntryWrite {
  readonly key: string;
  readonly value: unknown;
  readonly ttlMs?: number | undefined;
  readonly durability?: Durability;
}

/** The members of a key that have not left, and the sum of their weights. */
export interface Tally {
  readonly members: number;
  readonly weight: number;
}
