import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { untilAborted } from "../../core/time/deadline.ts";
import { toBackoffMs } from "../http/retry.ts";
import type { AttemptOutcome, Setback } from "./answers.ts";
import { type BreakerTerms, createGate, type GateRefusal, LONGEST_REST_MS } from "./gate.ts";
import type { Pace, Pause } from "./pace.ts";

/** What the caller of a request allows. */
export interface Terms {
  readonly signal: AbortSignal;
  /** Unix milliseconds: until then, a request that failed or was refused is repeated. 0: never. */
  readonly patientUntil?: number | undefined;
  /** The number of further attempts, when it differs from the upstream's. */
  readonly retries?: number | undefined;
  /** The Problem's code when the upstream works and wants a pause; `upstream-failed` by default. */
  readonly busy?: "unavailable" | undefined;
}

/** Repeats a request until it is answered or fails for good. */
export interface Attempts {
  /**
   * @param attempt throws only failures that a repetition would not change
   * @throws Problem `upstream-failed`; what `attempt` throws; the signal's reason.
   */
  make<T>(attempt: () => Promise<AttemptOutcome<T>>, terms: Terms): Promise<T>;
  /** Why requests are currently refused without being sent; undefined when they are not. */
  refusal(): GateRefusal | undefined;
}

export interface AttemptsOptions {
  readonly id: string;
  readonly title: string;
  /** The number of attempts after the first. */
  readonly retries: number;
  /** The pause before the first repetition; doubled for each further one. */
  readonly pauseMs: number;
  /** When the circuit breaker opens. */
  readonly breaker?: BreakerTerms | undefined;
  readonly pace: Pace;
  readonly pause: Pause;
  readonly clock: Clock;
  readonly log: Log;
}

/** A failed request, and how long the upstream should not be asked. */
interface GivenUp {
  readonly problem: Problem;
  readonly waitMs: number;
}

/** Why a request failed. */
interface Failure extends Pick<Setback, "reason" | "isAlive" | "cause"> {
  readonly waitMs: number | undefined;
}

type Made<T> = { readonly value: T; readonly givenUp?: undefined } | { readonly givenUp: GivenUp };

/** The longest pause within a request; when the upstream asks for a longer one, the request fails. */
const LONGEST_PAUSE_MS = 2000;
/** The pauses of a patient caller between failed requests. */
const PATIENCE = { firstMs: 1000, longestMs: 30_000 } as const;

/**
 * Repeats setbacks, with a circuit breaker across requests: after several failures in a row, or when the upstream asked
 * for a long pause, requests are refused for a while. Then one unrepeated request probes the upstream while the others
 * wait for its result. A request that is aborted after a failed attempt counts as a failure.
 */
export function createAttempts(options: AttemptsOptions): Attempts {
  const { id, title, retries, pauseMs, pace, pause, clock, log } = options;
  const gate = createGate(clock, options.breaker);
  let probe: Promise<unknown> | undefined;

  return {
    refusal: gate.refusal,
    async make(attempt, terms) {
      const { signal, patientUntil = 0 } = terms;
      for (let round = 1; ; round += 1) {
        const made = await makeOnce(attempt, terms);
        if (!made.givenUp) return made.value;
        const { problem, waitMs } = made.givenUp;
        const restMs = Math.max(waitMs, toBackoffMs(round, PATIENCE));
        if (clock.now() + restMs > patientUntil) throw problem;
        await pause(restMs, signal);
      }
    },
  };

  async function makeOnce<T>(attempt: () => Promise<AttemptOutcome<T>>, terms: Terms): Promise<Made<T>> {
    while (probe) await untilAborted(probe, terms.signal);
    const refusal = gate.refusal();
    if (refusal) return { givenUp: toGivenUp(refusal, terms.busy) };
    if (!gate.isInDoubt()) return repeat(attempt, terms, terms.retries ?? retries);
    const made = repeat(attempt, terms, 0);
    probe = made
      .catch(() => {})
      .finally(() => {
        probe = undefined;
      });
    return made;
  }

  async function repeat<T>(
    attempt: () => Promise<AttemptOutcome<T>>,
    { signal, patientUntil = 0, busy }: Terms,
    most: number,
  ): Promise<Made<T>> {
    const begun = clock.now();
    let setback: Setback | undefined;
    try {
      for (let made = 1; ; made += 1) {
        await pace.turn(signal, patientUntil > 0);
        const outcome = await attempt();
        if (!outcome.setback) {
          succeed();
          return { value: outcome.value };
        }
        setback = outcome.setback;
        if (setback.isAlive) pace.slow();
        if (made > most || (setback.retryAfterMs ?? 0) > LONGEST_PAUSE_MS) break;
        await pause(toPauseMs(setback, made), signal);
        if (gate.refusal()) break;
      }
    } catch (error) {
      if (!signal.aborted)
        succeed(); // A thrown Problem means that the upstream answered.
      else if (setback) giveUp(setback, busy, begun);
      throw error;
    }
    return { givenUp: giveUp(setback, busy, begun) };
  }

  /** @param made the number of attempts so far */
  function toPauseMs({ retryAfterMs = 0 }: Setback, made: number): number {
    return Math.max(retryAfterMs, toBackoffMs(made, { firstMs: pauseMs, longestMs: LONGEST_PAUSE_MS }));
  }

  function succeed(): void {
    pace.quicken();
    noteAlive();
  }

  function noteAlive(): void {
    if (gate.succeed()) log.info("upstream.up", { upstream: id });
  }

  function giveUp(setback: Setback, busy: Terms["busy"], begun: number): GivenUp {
    const { reason, isAlive, isAnswer, retryAfterMs, unnamedMs, cause } = setback;
    const restMs = retryAfterMs && Math.min(retryAfterMs, LONGEST_REST_MS);
    if (restMs) gate.rest(restMs);
    log.warn("upstream.failed", { upstream: id, reason, rest_ms: restMs, error: cause });
    if (isAlive) noteAlive();
    else if (gate.fail(isAnswer ? begun : undefined)) log.warn("upstream.down", { upstream: id });
    return toGivenUp({ reason, isAlive, waitMs: restMs || gate.refusal()?.waitMs || unnamedMs, cause }, busy);
  }

  function toGivenUp({ reason, isAlive, waitMs, cause }: Failure, busy: Terms["busy"]): GivenUp {
    const retryAfter = waitMs === undefined ? {} : { retryAfter: Math.ceil(waitMs / 1000) };
    const code = (isAlive && busy) || "upstream-failed";
    const problem = new Problem(code, `${title} ${reason}`, { cause, ...retryAfter });
    return { problem, waitMs: waitMs ?? 0 };
  }
}
