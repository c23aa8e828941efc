import { type Allowance, type CreateLimiter, secondsUntil } from "../../core/limiter.ts";
import type { Budget } from "../../core/peers/budget.ts";
import { PEER_POLICY } from "../../core/peers/policy.ts";

/** The budgets of the endpoint for agents. */
export interface PeerBudgets {
  /** Per client address: every request. */
  readonly clients: Budget;
  /** Per origin: requests with a valid signature. */
  readonly peers: Budget;
  /** Per client address, and under one key for all: fetches of peers' cards. */
  readonly fetches: Budget;
  readonly fetchesOfClients: Budget;
}

/** The budgets of the policy. */
export function createPeerBudgets(createLimiter: CreateLimiter): PeerBudgets {
  const open = (name: string, points: number): Budget =>
    createBudget(createLimiter, { budget: `a2a-${name}`, points, seconds: 60 });
  return {
    clients: open("clients", PEER_POLICY.requests_per_minute_and_client),
    peers: open("peers", PEER_POLICY.requests_per_minute_and_peer),
    fetches: open("fetches", PEER_POLICY.card_fetches_per_minute),
    fetchesOfClients: open("fetches-of-clients", PEER_POLICY.card_fetches_per_minute_and_client),
  };
}

function createBudget(createLimiter: CreateLimiter, allowance: Allowance): Budget {
  const limiter = createLimiter(allowance);
  return {
    async take(key, points = 1) {
      try {
        await limiter.consume(key, points);
        return 0;
      } catch (refusal) {
        return secondsUntil(refusal, allowance);
      }
    },
    giveBack: (key, points = 1) => void limiter.reward(key, points).catch(() => undefined),
  };
}
