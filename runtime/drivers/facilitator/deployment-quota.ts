import type { Store } from "../../core/store.ts";

/** Limits how many wallets the treasury deploys. Shared by all processes that share the store. */
export interface DeploymentQuota {
  /** Reserves a deployment for this payer until its payment is settled; false when the day's quota is used up. */
  reserve(payer: string): Promise<boolean>;
  /** Counts a deployment for a day; false when the day's quota is used up. */
  take(payer: string): Promise<boolean>;
  /** Returns the deployment: nothing was deployed for this payer. */
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

  return {
    reserve: (payer) => join(payer, RESERVED_MS),
    take: (payer) => join(payer, DAY_MS),
    giveBack: (payer) => store.leave(key, payer.toLowerCase()),
  };
}
