import type { Clock, Log } from "../api/capabilities.ts";
import { Problem } from "../api/problem.ts";
import { pause } from "./chain-call.ts";
import type { Outcome, Setback } from "./upstream-answers.ts";
import { createGate, type Refusal } from "./upstream-gate.ts";

/** Makes a request until it is answered, or there is no more hope in it. */
export interface Attempts {
  /**
   * @param attempt one try, which throws only for what will not pass.
   * @throws Problem `upstream-failed`; what `attempt` throws; the signal's reason.
   */
  make<T>(attempt: () => Promise<Outcome<T>>, signal: AbortSignal): Promise<T>;
  /** Why requests fail now without being made. */
  refusal(): Refusal | undefined;
}

export interface AttemptsOptions {
  readonly id: string;
  readonly title: string;
  /** How many more, after the first. */
  readonly retries: number;
  /** Before the first repetition; doubled for each further one, and spread by a quarter either way. */
  readonly pauseMs: number;
  /** Failed requests in a row after which the upstream is left alone, and for how long. */
  readonly breaker: { readonly failures: number; readonly openMs: number };
  readonly clock: Clock;
  readonly log: Log;
}

/** The longest pause within a request: who has asked for a longer one is not waited for. */
const LONGEST_PAUSE_MS = 2000;
/** However long an upstream asks to be left alone, it is asked again after so long. */
const LONGEST_REST_MS = 900_000;

/**
 * Repeats what may pass, and remembers between requests: after several failures in a row, or when the upstream has asked
 * for a long pause, requests fail at once for a while. A caller who leaves after a failed attempt has seen a failure, too.
 */
export function createAttempts({ id, title, retries, pauseMs, breaker, clock, log }: AttemptsOptions): Attempts {
  const gate = createGate({ clock, ...breaker });

  return {
    refusal: gate.refusal,
    async make(attempt, signal) {
      const refusal = gate.refusal();
      if (refusal) throw toProblem(refusal.reason, refusal.waitMs);
      let left = gate.enter() ? 1 : retries + 1;
      let setback: Setback | undefined;
      try {
        do {
          if (setback) await pause(toPauseMs(setback, retries - left), signal);
          if (setback && gate.refusal()) break;
          const outcome = await attempt();
          if (!outcome.setback) {
            succeed();
            return outcome.value;
          }
          setback = outcome.setback;
          left -= 1;
        } while (left > 0 && (setback.retryAfterMs ?? 0) <= LONGEST_PAUSE_MS);
      } catch (error) {
        if (!signal.aborted)
          succeed(); // What will not pass was said by an upstream that lives.
        else if (setback) giveUp(setback);
        else gate.leave();
        throw error;
      }
      throw giveUp(setback);
    },
  };

  /** @param repetition 0 for the first. */
  function toPauseMs({ retryAfterMs = 0 }: Setback, repetition: number): number {
    const grown = Math.min(pauseMs * 2 ** repetition, LONGEST_PAUSE_MS);
    return Math.max(retryAfterMs, grown * (0.75 + Math.random() / 2));
  }

  function succeed(): void {
    if (gate.succeed()) log.info("upstream.up", { upstream: id });
  }

  function giveUp({ reason, isAlive, retryAfterMs, cause }: Setback): Problem {
    const restMs = retryAfterMs && Math.min(retryAfterMs, LONGEST_REST_MS);
    if (restMs) {
      gate.rest(restMs);
      log.warn("upstream.asks-for-pause", { upstream: id, rest_ms: restMs });
    }
    if (isAlive) succeed();
    else if (gate.fail()) log.warn("upstream.down", { upstream: id, reason });
    return toProblem(reason, restMs || gate.refusal()?.waitMs, cause);
  }

  function toProblem(reason: string, waitMs: number | undefined, cause?: unknown): Problem {
    const retryAfter = waitMs === undefined ? {} : { retryAfter: Math.ceil(waitMs / 1000) };
    return new Problem("upstream-failed", `${title} ${reason}`, { cause, ...retryAfter });
  }
}
