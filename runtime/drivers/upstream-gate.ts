import type { Clock } from "../api/capabilities.ts";

/** Why an upstream is not asked now, and for how long it will not be. */
export interface Refusal {
  /** What is the matter, to follow the upstream's title: `has failed five times in a row`. */
  readonly reason: string;
  readonly waitMs: number;
}

/** Says whether an upstream may be asked: a circuit breaker, and the time that the upstream itself has asked for. */
export interface Gate {
  /** Undefined when it may be asked. Asking does not change anything. */
  refusal(): Refusal | undefined;
  /** A request begins. True: it is the one that finds out whether the upstream lives again. */
  enter(): boolean;
  /** The request was answered. True: the upstream had been given up. */
  succeed(): boolean;
  /** The request has failed. True: the upstream is left alone from now on. */
  fail(): boolean;
  /** The request was given up before anything was known. */
  leave(): void;
  /** The upstream has said how long it does not want to be asked. */
  rest(waitMs: number): void;
}

/** After so many failed requests in a row the upstream is left alone … */
const FAILURES = 5;
/** … for so long, and then one request may try. */
const OPEN_MS = 15_000;
/** How soon to come back while one request finds out. */
const PROBE_MS = 1000;

/** Open at first; all that it remembers is this process's own. */
export function createGate(clock: Clock): Gate {
  let failed = 0;
  let openUntil = 0;
  let restUntil = 0;
  let isProbed = false;

  return {
    refusal() {
      const now = clock.now();
      if (now < restUntil) return { reason: "has asked for a pause", waitMs: restUntil - now };
      if (failed < FAILURES) return undefined;
      const reason = "has failed several times in a row";
      if (now < openUntil) return { reason, waitMs: openUntil - now };
      return isProbed ? { reason, waitMs: PROBE_MS } : undefined;
    },
    enter() {
      isProbed = failed >= FAILURES;
      return isProbed;
    },
    succeed() {
      const wasOpen = failed >= FAILURES;
      failed = 0;
      isProbed = false;
      return wasOpen;
    },
    fail() {
      failed += 1;
      isProbed = false;
      if (failed < FAILURES) return false;
      openUntil = clock.now() + OPEN_MS;
      return failed === FAILURES;
    },
    leave() {
      isProbed = false;
    },
    rest(waitMs) {
      restUntil = Math.max(restUntil, clock.now() + waitMs);
    },
  };
}
