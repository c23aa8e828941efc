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
  /** The same for who tells failures apart from what nobody knows. */
  examine(wallet: string, signal: AbortSignal): Promise<Examination>;
}

/** A screening, and what was missing in it. */
export interface Examination {
  readonly response: ScreenResponse;
  /** In a sentence, that GoPlus was asked and has not answered. */
  readonly failure: string | undefined;
}

/** OFAC's list, which is searched here, and GoPlus, which is asked about EVM addresses; both at the same time. To be called during setup. */
export function createScreening(host: Pick<Host, "cache" | "clock" | "log" | "schedule" | "upstream">): Screening {
  const sanctions = createSanctions(host);
  const findReputation = createReputation(host);

  async function examine(wallet: string, signal: AbortSignal): Promise<Examination> {
    const { chain, key } = readAddress(wallet);
    const isAsked = chain === "ethereum";
    const [listed, reputation] = await Promise.all([
      sanctions.search(key),
      isAsked ? findReputation(key, signal) : undefined,
    ]);
    return {
      response: toScreenResponse({ wallet, chain, key, listed, reputation, checkedAtMs: host.clock.now() }),
      failure: isAsked && !reputation ? "GoPlus did not answer: the screening is provisional" : undefined,
    };
  }

  return { examine, screen: async (wallet, signal) => (await examine(wallet, signal)).response };
}
