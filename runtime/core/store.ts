/**
 * Where state lives. Values are JSON; keys are text of at most 512 characters; `ttlMs` left out means for ever.
 * A write has been made durable when its promise fulfils. A store that cannot be reached rejects with
 * Problem `unavailable`: it never answers as if it were empty.
 */
export interface Store {
  get<T>(key: string): Promise<T | undefined>;
  set(key: string, value: unknown, ttlMs?: number): Promise<void>;
  delete(key: string): Promise<void>;
  /** True when the key was absent (or expired) and now holds `value`; atomic across all processes that share the store. */
  putIfAbsent(key: string, value: unknown, ttlMs?: number): Promise<boolean>;
  /** Adds `by` to an integer that starts at 0 and returns the sum; `ttlMs` counts from the first increment. Atomic. */
  incr(key: string, by?: number, ttlMs?: number): Promise<number>;
  /** Every live key that begins with `prefix`, in no order. For start-up and slow background work. */
  keys(prefix: string): AsyncIterable<string>;
}
