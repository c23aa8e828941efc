import { toWeight } from "../../../core/payments/exposure.ts";
import type { Store } from "../../../core/store.ts";
import { delay } from "../../http/retry.ts";
import type { GasPlace } from "./gas-budget.ts";

/** A payment that is about to be sent. */
export interface CoveredPayment {
  /** Identifies the authorization on its chain. */
  readonly id: string;
  /** The payer and the token, in lower case. */
  readonly account: string;
  /** Atomic units, decimal text. */
  readonly value: string;
  /** The token's. */
  readonly decimals: number;
  /** Reads what the payer has, in atomic units. */
  readonly balance: () => Promise<bigint>;
}

/**
 * Sends no more of an account's money at once than it has: in one block, what is beyond the balance could only revert, at
 * the treasury's cost. Shared by all processes that share the store.
 */
export interface Coverage {
  /**
   * Waits until the balance covers this payment and those in flight. Does not wait when it does not cover this payment
   * alone: the token itself refuses that. Returns the place, which now also holds the amount.
   * @throws the signal's reason, and what `balance` throws.
   */
  hold(place: GasPlace, payment: CoveredPayment, signal: AbortSignal): Promise<GasPlace>;
}

/** The time after which an amount is freed that no process has freed because of a crash. */
const LIFE_MS = 2 * 60_000;
const POLL_MS = 250;

/** @param network CAIP-2 */
export function createCoverage(store: Store, network: string): Coverage {
  return {
    async hold(place, { id, account, value, decimals, balance }, signal) {
      const key = `being-sent:${network}:${account}`;
      const free = (): Promise<void> => store.leave(key, id);
      const both: GasPlace = {
        release: async () => void (await Promise.all([place.release(), free()])),
        lose: async (loss) => void (await Promise.all([place.lose(loss), free()])),
      };
      const own = toWeight(value, decimals, "up");
      for (;;) {
        const { members, weight } = await store.join(key, id, own, LIFE_MS);
        if (members === 1) return both;
        try {
          // Read after joining: the payments that were not counted any more were in a block, and have left the balance.
          const held = toWeight(String(await balance()), decimals, "down");
          if (weight <= held || own > held) return both;
        } catch (error) {
          await free();
          throw error;
        }
        await free();
        await delay(POLL_MS, signal);
      }
    },
  };
}
