import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";

/** Time that passes when the test says so: `Date`, `performance.now`, `setTimeout` and `setInterval` know no other. */
export interface FrozenTime {
  /** Lets timers of this time end, each in its order, and the work that they begin go on as far as it can. */
  pass(ms: number): Promise<void>;
  /** Stalls the process: the clocks go on, and no timer ends. */
  stall(ms: number): void;
  /** Gives the real clocks and timers back. */
  thaw(): void;
}

/** Stops the clocks of this process. Not for what waits for other processes or for a socket. */
export function freezeTime(): FrozenTime {
  let elapsedMs = performance.now();
  const began = Date.now() - elapsedMs;
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const clocks = [
    mock.method(performance, "now", () => elapsedMs),
    mock.method(Date, "now", () => Math.floor(began + elapsedMs)),
  ];
  const STEPS = 20;
  return {
    async pass(ms) {
      for (let step = 0; step < STEPS; step += 1) {
        elapsedMs += ms / STEPS;
        mock.timers.tick(ms / STEPS);
        for (let turns = 0; turns < 5; turns += 1) await turn();
      }
    },
    stall(ms) {
      elapsedMs += ms;
    },
    thaw() {
      mock.timers.reset();
      for (const clock of clocks) clock.mock.restore();
    },
  };
}
