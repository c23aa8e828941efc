/** Limits the bytes that the unpaid tasks of all clients together take in the store. */
export interface UnpaidTasks {
  /** Counts a task with its newest size. Returns the oldest tasks, which must be deleted to make room for it. */
  keep(id: string, bytes: number): readonly string[];
  /** Stops counting a task: it was paid or deleted. */
  drop(id: string): void;
}

export interface UnpaidTerms {
  /** Limit of all tasks' JSON together. */
  readonly mostBytes: number;
  /** How long the store keeps an unpaid task. */
  readonly lifeMs: number;
  readonly now: () => number;
}

export function createUnpaidTasks({ mostBytes, lifeMs, now }: UnpaidTerms): UnpaidTasks {
  /** Insertion order is the order of the last writes. */
  const counted = new Map<string, { readonly bytes: number; readonly at: number }>();
  let total = 0;
  const drop = (id: string): void => {
    total -= counted.get(id)?.bytes ?? 0;
    counted.delete(id);
  };
  return {
    keep(id, bytes) {
      drop(id);
      const forgotten: string[] = [];
      for (const [oldest, { at }] of counted) {
        const isOver = at + lifeMs <= now(); // Gone from the store, or paid at another process.
        if (!isOver && total + bytes <= mostBytes) break;
        drop(oldest);
        if (!isOver) forgotten.push(oldest);
      }
      counted.set(id, { bytes, at: now() });
      total += bytes;
      return forgotten;
    },
    drop,
  };
}
