import type { Clock } from "../../api/capabilities.ts";
import { LONGEST_TIMER_MS } from "../../core/time/deadline.ts";
import { delay } from "../http/retry.ts";

/** An upstream's rate limit, as a token bucket. */
export interface Rate {
  readonly per_second: number;
  /** How many requests may be sent at once after a pause. */
  readonly burst: number;
}

/** Spaces the requests to one upstream. */
export interface Pace {
  /**
   * Waits for a turn. @param mayYield whether urgent requests go first; a quarter of the burst is kept for them
   * @throws the signal's reason.
   */
  turn(signal: AbortSignal, mayYield: boolean): Promise<void>;
  /** For how long an urgent request would wait for its turn, in milliseconds. */
  waitMs(): number;
  /** Records an answer: the pace returns to the configured rate step by step. */
  quicken(): void;
  /** Records a rate-limit refusal: empties the burst and halves the pace, down to a sixteenth. */
  slow(): void;
}

/** Waits for `ms` milliseconds. @throws the signal's reason. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

export interface PaceOptions {
  /** Undefined for an upstream without a limit. */
  readonly rate: Rate | undefined;
  readonly clock: Clock;
  readonly pause: Pause;
}

interface Waiter {
  readonly go: () => void;
  readonly needs: number;
}

const SLOWEST = 1 / 16;
const QUICKENING = 1 / 64;
export const UNLIMITED: Pace = {
  turn: async (signal) => signal.throwIfAborted(),
  waitMs: () => 0,
  quicken() {},
  slow() {},
};

/** The pace of an upstream, which is the same for the same key and rate. */
export type PaceOf = (key: string, rate: Rate | undefined) => Pace;

/** Keeps paces across the sets of a process, so that a change of the set is no pause that allows another burst. */
export function keepPaces(clock: Clock): PaceOf {
  const paces = new Map<string, Pace>();
  return (upstream, rate) => {
    const key = JSON.stringify([upstream, rate]);
    const pace = paces.get(key) ?? createPace({ rate, clock, pause: delay });
    paces.set(key, pace);
    return pace;
  };
}

/** The state is kept in this process. */
export function createPace({ rate, clock, pause }: PaceOptions): Pace {
  if (!rate) return UNLIMITED;
  const { per_second, burst } = rate;
  const lanes: readonly [first: Waiter[], yielding: Waiter[]] = [[], []];
  const reserve = Math.floor(burst / 4);
  let speed = 1;
  let tokens = burst;
  let at = clock.now();
  let rest: AbortController | undefined;
  let isServing = false;

  return {
    async turn(signal, mayYield) {
      signal.throwIfAborted();
      const lane = lanes[mayYield ? 1 : 0];
      await new Promise<void>((resolve, reject) => {
        const waiter = { go, needs: mayYield ? 1 + reserve : 1 };
        const leave = (): void => {
          lane.splice(lane.indexOf(waiter), 1);
          rest?.abort();
          reject(signal.reason);
        };
        function go(): void {
          signal.removeEventListener("abort", leave);
          resolve();
        }
        signal.addEventListener("abort", leave, { once: true });
        lane.push(waiter);
        rest?.abort();
        if (!isServing) void serve();
      });
    },
    waitMs() {
      refill();
      return Math.max(0, toMs(lanes[0].length + 1 - tokens));
    },
    quicken() {
      speed = Math.min(1, speed + QUICKENING);
    },
    slow() {
      refill();
      speed = Math.max(SLOWEST, speed / 2);
      tokens = Math.min(tokens, 0);
    },
  };

  /** Gives turns until nobody waits. */
  async function serve(): Promise<void> {
    isServing = true;
    for (let lane = next(); lane; lane = next()) {
      refill();
      const missing = (lane[0]?.needs ?? 0) - tokens;
      if (missing <= 0) {
        tokens -= 1;
        lane.shift()?.go();
        continue;
      }
      rest = new AbortController();
      const ms = Math.min(toMs(missing), LONGEST_TIMER_MS);
      await pause(ms, rest.signal).catch(() => {}); // Queue changed.
      rest = undefined;
    }
    isServing = false;
  }

  /** How long it takes until there are so many tokens more. */
  function toMs(missing: number): number {
    return Math.ceil((1000 * missing) / (per_second * speed));
  }

  function next(): Waiter[] | undefined {
    return lanes.find((lane) => lane.length > 0);
  }

  function refill(): void {
    const passed = Math.max(0, clock.now() - at); // The clock may have been set back.
    at = clock.now();
    tokens = Math.min(burst, tokens + (passed / 1000) * per_second * speed);
  }
}
