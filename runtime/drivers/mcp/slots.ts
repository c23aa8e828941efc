import { Problem } from "../../api/problem.ts";

/** A server that may have to make room. */
export interface SlotHolder {
  /** Whether no call is under way. */
  isIdle(): boolean;
  /** When it was used last, in Unix milliseconds. */
  lastUsed(): number;
  stop(): Promise<void>;
}

/** How many processes run at once. */
export interface ProcessSlots {
  /** Waits until the holder may start a process. @throws Problem `unavailable` while all others are at work. */
  take(holder: SlotHolder): Promise<void>;
  free(holder: SlotHolder): void;
}

/** @param most how many; when one more is wanted, the one that was idle for the longest time is ended. */
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
