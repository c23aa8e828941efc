import type { Clock } from "../../api/capabilities.ts";

/**
 * Rails on which payments are verified and not settled: a facilitator without gas, or one that fails at settlements alone.
 * Kept in the memory of this process.
 */
export interface Stalls {
  /**
   * A payment was tried again: the facilitator has neither settled nor refused it, and the chain does not show it.
   * @param rail its id
   */
  failed(rail: string, reason: string): void;
  /** A payment was settled. */
  settled(rail: string): void;
  /** Sentences about rails on which this has lasted for a minute. */
  warnings(): readonly string[];
}

/** What has failed on a rail since the last settlement, without a long pause. Times are Unix milliseconds. */
interface Stall {
  readonly since: number;
  readonly failedAt: number;
  readonly reason: string;
}

const LEAST_MS = 60_000;
/** Longer than the longest pause between two attempts at one payment. */
const RECENT_MS = 90_000;

export function createStalls(clock: Clock): Stalls {
  const stalls = new Map<string, Stall>();
  const isRecent = ({ failedAt }: Stall): boolean => Math.abs(clock.now() - failedAt) < RECENT_MS;
  return {
    failed(rail, reason) {
      const now = clock.now();
      const stall = stalls.get(rail);
      stalls.set(rail, { since: stall && isRecent(stall) ? stall.since : now, failedAt: now, reason });
    },
    settled: (rail) => void stalls.delete(rail),
    warnings: () =>
      [...stalls].flatMap(([rail, stall]) => {
        const { since, failedAt, reason } = stall;
        if (failedAt - since < LEAST_MS || !isRecent(stall)) return [];
        const from = new Date(since).toISOString();
        return [`Payments on the rail ${rail} are verified, and none has been settled since ${from}: ${reason}`];
      }),
  };
}
