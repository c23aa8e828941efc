import type { Host } from "#plugin";
import { readAddress } from "../address.ts";
import { createReputation } from "./reputation.ts";
import { type ScreenResponse, toScreenResponse } from "./response.ts";
import { createSanctions } from "./sanctions.ts";

export type { ScreenResponse } from "./response.ts";

/** Screens addresses against sanctions and bad reputation. */
export interface Screening {
  /** @param wallet as the caller wrote it. @param chainId of EVM addresses that name none; default Ethereum. @throws only the signal's reason: failed sources make the answer partial. */
  screen(wallet: string, signal: AbortSignal, chainId?: string): Promise<ScreenResponse>;
  /** As `screen`, and says which source failed. */
  examine(wallet: string, signal: AbortSignal, chainId?: string): Promise<Examination>;
}

/** A screening with its failure. */
export interface Examination {
  readonly response: ScreenResponse;
  /** A sentence when GoPlus was asked and did not answer. */
  readonly failure: string | undefined;
}

/** Searches OFAC's list and, for EVM addresses, asks GoPlus at the same time. Call during setup: it schedules the refresh. */
export function createScreening(host: Pick<Host, "cache" | "clock" | "log" | "schedule" | "upstream">): Screening {
  const sanctions = createSanctions(host);
  const findReputation = createReputation(host);

  async function examine(wallet: string, signal: AbortSignal, defaultChainId = "1"): Promise<Examination> {
    const { chain, key, chainId = defaultChainId } = readAddress(wallet);
    const isAsked = chain === "ethereum";
    const [listed, reputation] = await Promise.all([
      sanctions.search(key),
      isAsked ? findReputation(key, chainId, signal) : undefined,
    ]);
    return {
      response: toScreenResponse({ wallet, chain, key, listed, reputation, checkedAtMs: host.clock.now() }),
      failure: isAsked && !reputation ? "GoPlus did not answer: the screening is provisional" : undefined,
    };
  }

  return { examine, screen: async (wallet, signal, chainId) => (await examine(wallet, signal, chainId)).response };
}
