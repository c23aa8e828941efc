import { Problem } from "../api/problem.ts";

/** Counts points by key. */
export interface Limiter {
  /** Spends points. Rejects with `{ msBeforeNext }` when the key has none left, with an Error when nobody can tell. */
  consume(key: string, points?: number): Promise<unknown>;
  /** Returns points. */
  reward(key: string, points?: number): Promise<unknown>;
}

/** A budget's points for each key and period of `seconds`. */
export interface Allowance {
  /** A name that no other budget of the site has. */
  readonly budget: string;
  readonly points: number;
  readonly seconds: number;
}

/** Makes the limiter of one budget. */
export type CreateLimiter = (allowance: Allowance) => Limiter;

/**
 * Whole seconds until a key has points again, from what `consume` has rejected with. @throws Problem `unavailable` when
 * the limiter has failed.
 */
export function secondsUntil(refusal: unknown): number {
  if (refusal instanceof Error) throw new Problem("unavailable", "Requests cannot be counted now", { cause: refusal });
  return Math.max(1, Math.ceil((refusal as { readonly msBeforeNext: number }).msBeforeNext / 1000));
}
