import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { untilAborted } from "../../core/deadline.ts";
import { delay } from "../http/retry.ts";
import type { Outcome, Setback } from "./answers.ts";
import { createGate, type Refusal } from "./gate.ts";

/** Makes a request until it is answered, or there is no more hope in it. */
export interface Attempts {
  /**
   * @param attempt one try, which throws only what a repetition would not change.
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
  readonly clock: Clock;
  readonly log: Log;
}

/** The longest pause within a request: who has asked for a longer one is not waited for. */
const LONGEST_PAUSE_MS = 2000;
/** However long an upstream asks to be left alone, it is asked again after so long. */
const LONGEST_REST_MS = 900_000;

/**
 * Repeats what may pass, and remembers between requests: after several failures in a row, or when the upstream has asked
 * for a long pause, requests fail at once for a while. Then one request finds out whether the upstream lives again; it is
 * not repeated, and the others wait for what it finds. A caller who leaves after a failed attempt has seen a failure, too.
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

  async function repeat<T>(attempt: () => Promise<Outcome<T>>, signal: AbortSignal, most: number): Promise<T> {
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
        succeed(); // A verdict was given by an upstream that lives.
      else if (setback) giveUp(setback);
      throw error;
    }
    throw giveUp(setback);
  }

  /** @param made how many attempts there were. */
  function toPauseMs({ retryAfterMs = 0 }: Setback, made: number): number {
    const grown = Math.min(pauseMs * 2 ** (made - 1), LONGEST_PAUSE_MS);
    return Math.max(retryAfterMs, grown * (0.75 + Math.random() / 2));
  }

  function succeed(): void {
    if (gate.succeed()) log.info("upstream.up", { upstream: id });
  }

  function giveUp({ reason, isAlive, retryAfterMs, cause }: Setback): Problem {
    const restMs = retryAfterMs && Math.min(retryAfterMs, LONGEST_REST_MS);
    if (restMs) gate.rest(restMs);
    log.warn("upstream.failed", { upstream: id, reason, rest_ms: restMs, error: cause });
    if (isAlive) succeed();
    else if (gate.fail()) log.warn("upstream.down", { upstream: id });
    return toProblem(reason, restMs || gate.refusal()?.waitMs, cause);
  }

  function toProblem(reason: string, waitMs: number | undefined, cause?: unknown): Problem {
    const retryAfter = waitMs === undefined ? {} : { retryAfter: Math.ceil(waitMs / 1000) };
    return new Problem("upstream-failed", `${title} ${reason}`, { cause, ...retryAfter });
  }
}
