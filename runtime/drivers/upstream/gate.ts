import type { Clock } from "../../api/capabilities.ts";

/** Why an upstream may not be asked now, and for how long. */
export interface GateRefusal {
  /** The rest of a sentence after the upstream's title: `has asked for a pause`. */
  readonly reason: string;
  readonly waitMs: number;
  /** Whether the upstream works and has asked for the pause. */
  readonly isAlive: boolean;
}

/** Whether an upstream may be asked: a circuit breaker, and the pause that the upstream itself has asked for. */
export interface Gate {
  /** Why it may not be asked now; undefined when it may. */
  refusal(): GateRefusal | undefined;
  /** Whether the breaker has opened, and no request has succeeded since. */
  isInDoubt(): boolean;
  /** Records an answered request. True when this closes the breaker. */
  succeed(): boolean;
  /**
   * Records a failed request. True when this opens the breaker.
   * @param begun when it began (Unix milliseconds), if the upstream answered it. Requests that began before the last
   * counted failure are not counted again, since one caller can send many at once that this upstream cannot answer.
   */
  fail(begun?: number): boolean;
  /** Records the pause that the upstream asked for. */
  rest(waitMs: number): void;
}

/** A span of time; `since` in Unix milliseconds. */
interface Span {
  readonly since: number;
  readonly forMs: number;
}

/** When a breaker opens, and for how long. */
export interface BreakerTerms {
  /** How many failed requests in a row open it; 5 by default. */
  readonly failures?: number | undefined;
  /** How long requests are refused before one may probe; 15 seconds by default. */
  readonly openMs?: number | undefined;
}

const NONE: Span = { since: 0, forMs: 0 };

/** The longest pause between requests that an upstream can ask for. */
export const LONGEST_REST_MS = 900_000;

/** The state is kept in this process. */
export function createGate(clock: Clock, { failures = 5, openMs = 15_000 }: BreakerTerms = {}): Gate {
  let failed = 0;
  let rested = NONE;
  let failing = NONE;

  return {
    refusal() {
      const restMs = leftOf(rested);
      if (restMs > 0) return { reason: "has asked for a pause", waitMs: restMs, isAlive: true };
      if (failed < failures) return undefined;
      const waitMs = leftOf(failing);
      return waitMs > 0 ? { reason: "has failed several times in a row", waitMs, isAlive: false } : undefined;
    },
    isInDoubt: () => failed >= failures,
    succeed() {
      const wasGivenUp = failed >= failures;
      failed = 0;
      return wasGivenUp;
    },
    fail(begun) {
      const now = clock.now();
      const isCounted = begun !== undefined && begun < failing.since && failing.since <= now; // No clock was set back.
      if (isCounted) return false;
      failed += 1;
      failing = { since: now, forMs: openMs };
      return failed === failures;
    },
    rest(waitMs) {
      if (waitMs > leftOf(rested)) rested = { since: clock.now(), forMs: waitMs };
    },
  };

  /** The remaining time; 0 also after the clock was set back, so that no pause gets longer. */
  function leftOf({ since, forMs }: Span): number {
    const passed = clock.now() - since;
    return passed < 0 ? 0 : Math.max(0, forMs - passed);
  }
}
