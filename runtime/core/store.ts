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
  incr(key: string, by?: number, ttlMs?: number): Promise<number>;
  /** Every live key that begins with `prefix`, unordered. For start-up and slow background work. */
  keys(prefix: string): AsyncIterable<string>;
}
