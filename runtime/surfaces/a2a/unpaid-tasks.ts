/** Limits the bytes that the unpaid tasks of all clients together take in the store. */
export interface UnpaidTasks {
  /** Counts a task with its newest size. Returns the oldest tasks, which must be deleted to make room for it. */
  keep(id: string, bytes: number): readonly string[];
  /** Stops counting a task: it was paid or deleted. */
  drop(id: string): void;
}

/** @param mostBytes limit of all tasks' JSON together */
export function createUnpaidTasks(mostBytes: number): UnpaidTasks {
  /** Insertion order is the order of the last writes. */
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
