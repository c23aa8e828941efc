/** Bounds the bytes that unpaid tasks hold in the store, of all clients together. */
export interface UnpaidTasks {
  /** Counts a task with its newest size; answers the oldest tasks, which must be forgotten for it. */
  keep(id: string, bytes: number): readonly string[];
  /** Counts a task no longer: it was paid, or forgotten. */
  drop(id: string): void;
}

/** @param mostBytes of JSON */
export function createUnpaidTasks(mostBytes: number): UnpaidTasks {
  /** In the order of their newest writes. */
  const sizes = new Map<string, number>();
  let total = 0;
  const drop = (id: string): void => {
    total -= sizes.get(id) ?? 0;
    sizes.delete(id);
  };
  return {
    keep(id, bytes) {
      drop(id);
      sizes.set(id, bytes);
      total += bytes;
      const forgotten: string[] = [];
      for (const oldest of sizes.keys()) {
        if (total <= mostBytes || oldest === id) break;
        drop(oldest);
        forgotten.push(oldest);
      }
      return forgotten;
    },
    drop,
  };
}
