/**
 * How much a write must survive. `durable`, unless said otherwise: a crash of the machine. `lazy`: a crash of the process;
 * for what can be found out again, or is worth nothing after a crash. It spares an fsync.
 */
export type Care = "durable" | "lazy";

/**
 * Where state lives. Values are JSON; keys are text of at most 512 characters; `ttlMs` left out means for ever.
 * A write has been made as durable as was asked when its promise fulfils. A store that cannot be reached rejects with
 * Problem `unavailable`: it never answers as if it were empty.
 */
export interface Store {
  get<T>(key: string): Promise<T | undefined>;
  set(key: string, value: unknown, ttlMs?: number, care?: Care): Promise<void>;
  delete(key: string, care?: Care): Promise<void>;
  /** True when the key was absent (or expired) and now holds `value`; atomic across all processes that share the store. */
  putIfAbsent(key: string, value: unknown, ttlMs?: number, care?: Care): Promise<boolean>;
  /** Adds `by` to an integer that starts at 0 and returns the sum; `ttlMs` counts from the first increment. Atomic. */
  incr(key: string, by?: number, ttlMs?: number): Promise<number>;
  /** Every live key that begins with `prefix`, in no order. For start-up and slow background work. */
  keys(prefix: string): AsyncIterable<string>;
}
