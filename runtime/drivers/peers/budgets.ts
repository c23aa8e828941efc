import type { RateLimiterRes } from "rate-limiter-flexible";
import RateLimiterMemory from "rate-limiter-flexible/lib/RateLimiterMemory.js";
import { Problem } from "../../api/problem.ts";
import type { Budget } from "../../core/peers/budget.ts";
import { PEER_POLICY } from "../../core/peers/policy.ts";

/** The budgets of the door between agents. */
export interface PeerBudgets {
  /** By client address: every request. */
  readonly clients: Budget;
  /** By origin: requests whose signature held. */
  readonly peers: Budget;
  /** By client address, and under one key for all: fetches of peers' cards. */
  readonly fetches: Budget;
  readonly fetchesOfClients: Budget;
}

/** The policy's budgets, in this process's memory. */
export const createPeerBudgets = (): PeerBudgets => ({
  clients: createBudget(PEER_POLICY.requests_per_minute_and_client),
  peers: createBudget(PEER_POLICY.requests_per_minute_and_peer),
  fetches: createBudget(PEER_POLICY.card_fetches_per_minute),
  fetchesOfClients: createBudget(PEER_POLICY.card_fetches_per_minute_and_client),
});

/** A budget in this process's memory. */
export function createBudget(perMinute: number): Budget {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return {
    async take(key, points = 1) {
      try {
        await limiter.consume(key, points);
        return 0;
      } catch (refusal) {
        if (refusal instanceof Error)
          throw new Problem("unavailable", "Requests cannot be counted now", { cause: refusal });
        return Math.max(1, Math.ceil((refusal as RateLimiterRes).msBeforeNext / 1000));
      }
    },
    giveBack: (key, points = 1) => void limiter.reward(key, points).catch(() => undefined),
  };
}
