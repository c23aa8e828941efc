import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { untilAborted } from "../../core/deadline.ts";
import { delay, toBackoffMs } from "../http/retry.ts";
import type { AttemptOutcome, Setback } from "./answers.ts";
import { createGate, type GateRefusal } from "./gate.ts";

/** Repeats a request until it is answered or given up. */
export interface Attempts {
  /**
   * @param attempt throws only what a repetition would not change.
   * @throws Problem `upstream-failed`; what `attempt` throws; the signal's reason.
   */
  make<T>(attempt: () => Promise<AttemptOutcome<T>>, signal: AbortSignal): Promise<T>;
  /** Why requests are refused now without being sent. */
  refusal(): GateRefusal | undefined;
}

export interface AttemptsOptions {
  readonly id: string;
  readonly title: string;
  /** How many further attempts after the first. */
  readonly retries: number;
  /** The pause before the first repetition; doubled for each further one. */
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The longest pause within a request; when the upstream asks for a longer one, the request fails. */
const LONGEST_PAUSE_MS = 2000;
/** The longest pause between requests that an upstream can ask for. */
const LONGEST_REST_MS = 900_000;

/**
 * Repeats setbacks, and keeps a circuit breaker across requests: after several failures in a row, or when the upstream
 * asked for a long pause, requests are refused for a while. Then one request, not repeated, probes the upstream while the
 * others wait for its result. A request that is aborted after a failed attempt counts as a failure.
 */
export function createAttempts({ id, title, retries, pauseMs, clock, log }: AttemptsOptions): Attempts {
  const gate = createGate(clock);
  let probe: Promise<unknown> | undefined;

  return {
    refusal: gate.refusal,
    async make(attempt, signal) {
      while (probe) await untilAborted(probe, signal);
      const refusal = gate.refusal();
      if (refusal) throw toProblem(refusal.reason, refusal.waitMs);
      if (!gate.isInDoubt()) return repeat(attempt, signal, retries);
      const made = repeat(attempt, signal, 0);
      probe = made
        .catch(() => {})
        .finally(() => {
          probe = undefined;
        });
      return made;
    },
  };

  async function repeat<T>(attempt: () => Promise<AttemptOutcome<T>>, signal: AbortSignal, most: number): Promise<T> {
    let setback: Setback | undefined;
    try {
      for (let made = 1; ; made += 1) {
        const outcome = await attempt();
        if (!outcome.setback) {
          succeed();
          return outcome.value;
        }
        setback = outcome.setback;
        if (made > most || (setback.retryAfterMs ?? 0) > LONGEST_PAUSE_MS) break;
        await delay(toPauseMs(setback, made), signal);
        if (gate.refusal()) break;
      }
    } catch (error) {
      if (!signal.aborted)
        succeed(); // A Problem means that the upstream answered.
      else if (setback) giveUp(setback);
      throw error;
    }
    throw giveUp(setback);
  }

  /** @param made how many attempts were made. */
  function toPauseMs({ retryAfterMs = 0 }: Setback, made: number): number {
    return Math.max(retryAfterMs, toBackoffMs(made, { firstMs: pauseMs, longestMs: LONGEST_PAUSE_MS }));
  }

  function succeed(): void {
    if (gate.succeed()) log.info("upstream.up", { upstream: id });
  }

  function giveUp({ reason, isAlive, retryAfterMs, unnamedMs, cause }: Setback): Problem {
    const restMs = retryAfterMs && Math.min(retryAfterMs, LONGEST_REST_MS);
    if (restMs) gate.rest(restMs);
    log.warn("upstream.failed", { upstream: id, reason, rest_ms: restMs, error: cause });
    if (isAlive) succeed();
    else if (gate.fail()) log.warn("upstream.down", { upstream: id });
    return toProblem(reason, restMs || gate.refusal()?.waitMs || unnamedMs, cause);
  }

  function toProblem(reason: string, waitMs: number | undefined, cause?: unknown): Problem {
    const retryAfter = waitMs === undefined ? {} : { retryAfter: Math.ceil(waitMs / 1000) };
    return new Problem("upstream-failed", `${title} ${reason}`, { cause, ...retryAfter });
  }
}
