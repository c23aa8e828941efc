import { Problem } from "../api/problem.ts";

/** Counts points by key. */
export interface Limiter {
  /** Spends points. Rejects with `{ msBeforeNext }` when the key has none left, with an Error when counting fails. */
  consume(key: string, points?: number): Promise<unknown>;
  /** Returns points. */
  reward(key: string, points?: number): Promise<unknown>;
}

/** A budget: points per key and period of `seconds`. */
export interface Allowance {
  /** The budget's name, unique in the site. */
  readonly budget: string;
  readonly points: number;
  readonly seconds: number;
}

/** Makes the limiter of one budget. */
export type CreateLimiter = (allowance: Allowance) => Limiter;

/**
 * Whole seconds until the key has points again: the period at most, also after the clock was set back.
 * @param refusal what `consume` rejected with. @throws Problem `unavailable` when the limiter failed.
 */
export function secondsUntil(refusal: unknown, { seconds }: Pick<Allowance, "seconds">): number {
  if (refusal instanceof Error) throw new Problem("unavailable", "Requests cannot be counted now", { cause: refusal });
  const { msBeforeNext } = refusal as { readonly msBeforeNext: number };
  return Math.max(1, Math.ceil(Math.min(msBeforeNext / 1000, seconds)));
}
