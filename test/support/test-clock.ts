/** A clock that the test moves. */
export interface TestClock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  advance(ms: number): void;
}

/** @param start Unix milliseconds at which the clock stands still; real time when omitted. */
export function createTestClock(start?: number): TestClock {
  let shift = 0;
  return {
    now: () => (start ?? Date.now()) + shift,
    advance(ms) {
      shift += ms;
    },
  };
}
