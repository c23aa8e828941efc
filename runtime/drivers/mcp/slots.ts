import { Problem } from "../../api/problem.ts";

/** A server whose process may have to be ended for another one. */
export interface SlotHolder {
  /** Whether no call is running, and no process is being started. */
  isIdle(): boolean;
  /** When it was last used: Unix milliseconds. */
  lastUsed(): number;
  stop(): Promise<void>;
}

/** Limits how many processes run concurrently. */
export interface ProcessSlots {
  /** Waits until the holder may start a process. @throws Problem `unavailable` while all processes are busy. */
  take(holder: SlotHolder): Promise<void>;
  free(holder: SlotHolder): void;
}

/** @param most the limit; to start one more, the process that was idle longest is ended */
export function createProcessSlots(most: number): ProcessSlots {
  const taken = new Set<SlotHolder>();
  return {
    async take(holder) {
      while (!taken.has(holder) && taken.size >= most) {
        const idle = [...taken].filter((other) => other.isIdle()).sort((a, b) => a.lastUsed() - b.lastUsed());
        const [oldest] = idle;
        if (!oldest) throw new Problem("unavailable", "Too many tool servers are at work now", { retryAfter: 5 });
        taken.delete(oldest);
        await oldest.stop();
      }
      taken.add(holder);
    },
    free: (holder) => void taken.delete(holder),
  };
}
