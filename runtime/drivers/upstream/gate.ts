import type { Clock } from "../../api/capabilities.ts";

/** Why an upstream is not asked now, and for how long it will not be. */
export interface Refusal {
  /** What is the matter, to follow the upstream's title: `has asked for a pause`. */
  readonly reason: string;
  readonly waitMs: number;
}

/** Says whether an upstream may be asked: a circuit breaker, and the time that the upstream itself has asked for. */
export interface Gate {
  /** Undefined when it may be asked. Asking does not change anything. */
  refusal(): Refusal | undefined;
  /** Whether the upstream has been given up, and nobody has heard of it since. */
  isInDoubt(): boolean;
  /** The request was answered. True: the upstream had been given up. */
  succeed(): boolean;
  /** The request has failed. True: the upstream is left alone from now on. */
  fail(): boolean;
  /** The upstream has said how long it does not want to be asked. */
  rest(waitMs: number): void;
}

/** From a moment on, in milliseconds since the Unix epoch. */
interface Span {
  readonly since: number;
  readonly forMs: number;
}

const NONE: Span = { since: 0, forMs: 0 };
/** After so many failed requests in a row the upstream is left alone … */
const FAILURES = 5;
/** … for so long, and then one request may try. */
const OPEN_MS = 15_000;

/** Open at first; all that it remembers is this process's own. */
export function createGate(clock: Clock): Gate {
  let failed = 0;
  let rested = NONE;
  let failing = NONE;

  return {
    refusal() {
      const restMs = leftOf(rested);
      if (restMs > 0) return { reason: "has asked for a pause", waitMs: restMs };
      if (failed < FAILURES) return undefined;
      const waitMs = leftOf(failing);
      return waitMs > 0 ? { reason: "has failed several times in a row", waitMs } : undefined;
    },
    isInDoubt: () => failed >= FAILURES,
    succeed() {
      const wasGivenUp = failed >= FAILURES;
      failed = 0;
      return wasGivenUp;
    },
    fail() {
      failed += 1;
      failing = { since: clock.now(), forMs: OPEN_MS };
      return failed === FAILURES;
    },
    rest(waitMs) {
      if (waitMs > leftOf(rested)) rested = { since: clock.now(), forMs: waitMs };
    },
  };

  /** Nothing, too, once the clock was set back: it must not make a pause longer. */
  function leftOf({ since, forMs }: Span): number {
    const passed = clock.now() - since;
    return passed < 0 ? 0 : Math.max(0, forMs - passed);
  }
}
