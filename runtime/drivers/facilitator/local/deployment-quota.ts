import type { Store } from "../../../core/store.ts";

/** Limits how many wallets the treasury deploys. Shared by all processes that share the store. */
export interface DeploymentQuota {
  /** Reserves a deployment for this payer until its payment is settled; false when the day's quota is used up. */
  reserve(payer: string): Promise<boolean>;
  /** Counts a deployment for a day; false when the day's quota is used up. */
  take(payer: string): Promise<boolean>;
  /** Returns the deployment, unless another payment of this payer has taken it too: nothing was deployed for this one. */
  giveBack(payer: string): Promise<void>;
}

const DAY_MS = 24 * 60 * 60_000;
/** The longest time between the verification of a payment and its settlement. */
const RESERVED_MS = 5 * 60_000;

/** @param network CAIP-2 @param perDay the most deployments within 24 hours */
export function createDeploymentQuota(store: Store, network: string, perDay: number): DeploymentQuota {
  const key = `wallets-deployed:${network}`;

  /** Counts a payer once, since a wallet is deployed only once. */
  async function join(payer: string, ttlMs: number): Promise<boolean> {
    const { members } = await store.join(key, payer.toLowerCase(), 1, ttlMs);
    if (members <= perDay) return true;
    await store.leave(key, payer.toLowerCase());
    return false;
  }

  const heldBy = (payer: string): string => `wallet-deploying:${network}:${payer.toLowerCase()}`;
  /** Counts the payments that share a payer's deployment: it is given back with the last of them. */
  const hold = (payer: string, by: number): Promise<number> => store.incr(heldBy(payer), by, DAY_MS);

  return {
    // Joining again would shorten a deployment that is counted for a day to minutes.
    reserve: async (payer) => ((await store.get<number>(heldBy(payer))) ?? 0) > 0 || join(payer, RESERVED_MS),
    async take(payer) {
      await hold(payer, 1);
      const isTaken = await join(payer, DAY_MS);
      if (!isTaken) await hold(payer, -1);
      return isTaken;
    },
    async giveBack(payer) {
      if ((await hold(payer, -1)) <= 0) await store.leave(key, payer.toLowerCase());
    },
  };
}
