import type { BookEvent } from "../../../runtime/core/books/events.ts";
import type { EntryWrite, Store } from "../../../runtime/core/store.ts";

/**
 * Records the lifetime of all further writes in milliseconds (Infinity: for ever), in order, by the first word of the
 * key.
 */
export function noteLives(store: Store): Map<string, number[]> {
  const lives = new Map<string, number[]>();
  const noting = <A extends readonly unknown[], T>(at: number, write: (...args: A) => T): ((...args: A) => T) => {
    return (...args) => {
      const word = String(args[0]).split(":", 1)[0] as string;
      // The position of `ttlMs` in Store's methods.
      const ttlMs = (args[at] as number | undefined) ?? Number.POSITIVE_INFINITY;
      lives.set(word, [...(lives.get(word) ?? []), ttlMs]);
      return write(...args);
    };
  };
  const { set, putIfAbsent, incr, join } = store;
  const { enter } = store;
  Object.assign(store, {
    set: noting(2, set),
    putIfAbsent: noting(2, putIfAbsent),
    incr: noting(2, incr),
    join: noting(3, join),
    enter: (event: BookEvent, entry: EntryWrite) =>
      noting(2, (_key: string, _value: unknown, _ttlMs: number | undefined) => enter(event, entry))(
        entry.key,
        entry.value,
        entry.ttlMs,
      ),
  });
  return lives;
}
