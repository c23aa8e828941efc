import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";

/** Time that the test controls: `Date`, `performance.now`, `setTimeout` and `setInterval` all use it. */
export interface FrozenTime {
  /** Advances the time, fires the timers in their order, and lets the work that they start run as far as it can. */
  pass(ms: number): Promise<void>;
  /** Stalls the process: advances the clocks without firing timers. */
  stall(ms: number): void;
  /** Restores the real clocks and timers. */
  thaw(): void;
}

interface Timer {
  at: number;
  readonly ms: number;
  readonly repeats: boolean;
  readonly work: () => void;
  unref(): Timer;
}

const STEPS = 20;

/**
 * Replaces the clocks of this process. Not for code that waits for other processes or for a socket. Does not use the
 * timers of `node:test`, which lose their order when a timer of an earlier frozen time is cleared or refreshed.
 */
export function freezeTime(): FrozenTime {
  let elapsedMs = Math.ceil(performance.now()); // Only whole milliseconds add up exactly.
  const began = Date.now() - elapsedMs;
  const timers = new Set<unknown>();
  const { clearTimeout: clear } = globalThis;
  const start =
    (repeats: boolean) =>
    (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      const wait = Math.max(1, Number(ms) || 1);
      const timer: Timer = {
        at: elapsedMs + wait,
        ms: wait,
        repeats,
        work: () => work(...args),
        unref: () => timer,
      };
      timers.add(timer);
      return timer as unknown as NodeJS.Timeout; // The part of a Timeout that is used here.
    };
  const stop = (timer: unknown): void => {
    if (!timers.delete(timer)) clear(timer as NodeJS.Timeout);
  };
  const mocks = [
    mock.method(globalThis, "setTimeout", start(false) as unknown as typeof setTimeout),
    mock.method(globalThis, "setInterval", start(true) as unknown as typeof setInterval),
    mock.method(globalThis, "clearTimeout", stop),
    mock.method(globalThis, "clearInterval", stop),
    mock.method(performance, "now", () => elapsedMs),
    mock.method(Date, "now", () => Math.floor(began + elapsedMs)),
  ];
  const next = (): Timer | undefined =>
    ([...timers] as Timer[]).filter(({ at }) => at <= elapsedMs).sort((one, other) => one.at - other.at)[0];

  return {
    async pass(ms) {
      for (let step = 0; step < STEPS; step += 1) {
        elapsedMs += ms / STEPS;
        for (let timer = next(); timer; timer = next()) {
          timer.at += timer.ms;
          if (!timer.repeats) timers.delete(timer);
          timer.work();
        }
        for (let turns = 0; turns < 5; turns += 1) await turn();
      }
    },
    stall(ms) {
      elapsedMs += ms;
    },
    thaw() {
      for (const one of mocks) one.mock.restore();
    },
  };
}
