import type { Store } from "../../core/store.ts";

/** Bounds how many wallets the treasury deploys. All processes that share the store share it. */
export interface DeploymentQuota {
  /** Sets one aside for this payer until its payment is settled; false when the day's are used up. */
  reserve(payer: string): Promise<boolean>;
  /** Counts one for a day; false when the day's are used up. */
  take(payer: string): Promise<boolean>;
  /** Nothing was deployed for this payer. */
  giveBack(payer: string): Promise<void>;
}

const DAY_MS = 24 * 60 * 60_000;
/** How long a verified payment may take to be settled. */
const RESERVED_MS = 5 * 60_000;

/** @param network CAIP-2. @param perDay how many within 24 hours. */
export function createDeploymentQuota(store: Store, network: string, perDay: number): DeploymentQuota {
  const key = `wallets-deployed:${network}`;

  /** A payer that joins again is counted once: a wallet is deployed once. */
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
