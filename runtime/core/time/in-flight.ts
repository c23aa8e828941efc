/** Work of which several pieces may be in flight. */
export interface InFlight<A extends readonly unknown[], T> {
  readonly run: (...args: A) => Promise<T>;
  /** Resolves when all of it has ended, or after `mostMs`. */
  ended(mostMs: number): Promise<void>;
}

/** Counts what is in flight, so that what it needs can be closed after it. */
export function createInFlight<A extends readonly unknown[], T>(work: (...args: A) => Promise<T>): InFlight<A, T> {
  let count = 0;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let isAwaited = false;
  return {
    async run(...args) {
      count += 1;
      try {
        return await work(...args);
      } finally {
        count -= 1;
        if (isAwaited && count === 0) resolve();
      }
    },
    async ended(mostMs) {
      if (count === 0) return;
      isAwaited = true;
      const timer = setTimeout(resolve, mostMs); // It keeps the process alive.
      await over;
      clearTimeout(timer);
    },
  };
}
