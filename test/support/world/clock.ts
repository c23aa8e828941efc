import { setImmediate as turn } from "node:timers/promises";

/** A clock whose pauses take no time: whoever pauses moves the time of everybody who shares the clock. */
export interface WorldClock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Lets `ms` milliseconds pass. @throws the signal's reason. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  /** Moves time on. */
  pass(ms: number): void;
}

/** @param start milliseconds since the Unix epoch. */
export function createWorldClock(start = 1_800_000_000_000): WorldClock {
  let now = start;
  return {
    now: () => now,
    async pause(ms, signal) {
      const end = now + ms;
      await turn();
      signal?.throwIfAborted();
      now = Math.max(now, end);
    },
    pass(ms) {
      now += ms;
    },
  };
}
