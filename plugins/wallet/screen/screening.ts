import type { Host } from "#plugin";
import { readAddress } from "./address.ts";
import { createReputation } from "./reputation.ts";
import { type ScreenResponse, toScreenResponse } from "./response.ts";
import { createSanctions } from "./sanctions.ts";

export type { ScreenResponse } from "./response.ts";

/** The screening of addresses against sanctions and bad reputation. */
export interface Screening {
  /** @param wallet as the caller wrote it. @throws only the signal's reason: what cannot be asked makes the answer partial. */
  screen(wallet: string, signal: AbortSignal): Promise<ScreenResponse>;
}

/** OFAC's list, which is searched here, and GoPlus, which is asked about EVM addresses; both at the same time. To be called during setup. */
export function createScreening(host: Pick<Host, "cache" | "clock" | "log" | "schedule" | "upstream">): Screening {
  const sanctions = createSanctions(host);
  const findReputation = createReputation(host);
  return {
    async screen(wallet, signal) {
      const { chain, key } = readAddress(wallet);
      const [listed, reputation] = await Promise.all([
        sanctions.search(key),
        chain === "ethereum" ? findReputation(key, signal) : undefined,
      ]);
      return toScreenResponse({ wallet, chain, key, listed, reputation, checkedAtMs: host.clock.now() });
    },
  };
}
