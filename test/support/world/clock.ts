import { setImmediate as turn } from "node:timers/promises";

/** A clock whose pauses take no real time: a pause advances the time for all users of the clock. */
export interface WorldClock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Advances the time by `ms` milliseconds. @throws the signal's reason. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  /** Advances the time. */
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
