import type { Host } from "#plugin";
import { readAddress, type WalletAddress } from "../address.ts";
import { isWallet } from "../names/sol/keys.ts";
import { createReputation } from "./reputation.ts";
import { type ScreenResponse, toScreenResponse } from "./response.ts";
import { createSanctions } from "./sanctions.ts";
import type { ScreenTerms } from "./terms.ts";

/** Screens addresses against sanctions and bad reputation. */
export interface Screening {
  /** @param wallet as the caller wrote it. @throws only the signal's reason; failed sources make the answer partial. */
  screen(wallet: string, terms: ScreenTerms): Promise<ScreenResponse>;
  /** Like `screen`, and also names the source that failed. */
  examine(wallet: string, terms: ScreenTerms): Promise<Examination>;
  /** Whether the sanctions list names an address. Sends no request. */
  isListed(wallet: string): Promise<boolean>;
  /** Whether that list is OFAC's present one. A missing entry in an older list proves nothing. */
  isListCurrent(): Promise<boolean>;
}

/** The result of a screening, and its failure. */
export interface Examination {
  readonly response: ScreenResponse;
  /** A sentence when GoPlus was asked but did not answer. */
  readonly failure: string | undefined;
}

/**
 * Searches OFAC's list and, for EVM addresses, asks GoPlus at the same time. Call during setup, because it schedules
 * the refresh.
 */
export function createScreening(host: Pick<Host, "cache" | "clock" | "log" | "schedule" | "upstream">): Screening {
  const sanctions = createSanctions(host);
  const findReputation = createReputation(host);

  /** The first key that the list names, or else the address's own. Any word of a text may be the listed one. */
  async function findListed({ key, among = [], words = [] }: WalletAddress) {
    const keys = [key, ...among, ...words];
    const found = await Promise.all(keys.map(async (key) => ({ key, listed: await sanctions.search(key) })));
    return found.find(({ listed }) => listed.entries.length > 0) ?? (found[0] as (typeof found)[number]);
  }

  async function examine(wallet: string, { chainId: named = "1", ...terms }: ScreenTerms): Promise<Examination> {
    const address = readAddress(wallet);
    const { chain, key, chainId = named, among = [] } = address;
    const isAsked = chain === "ethereum";
    const [{ key: found, listed }, reputation, mayHaveKey] = await Promise.all([
      findListed(address),
      isAsked ? findReputation(key, { ...terms, chainId }) : undefined,
      chain === "solana" ? isWallet(key) : true,
    ]);
    const isInside = found !== key;
    return {
      response: toScreenResponse({
        wallet,
        chain: isInside ? "unknown" : chain,
        key: found,
        isInside,
        isSeveral: among.length > 1 || (isInside && chain !== "unknown"),
        isKeyless: !mayHaveKey && !isInside,
        listed,
        reputation: isInside ? undefined : reputation,
        checkedAtMs: host.clock.now(),
      }),
      failure: isAsked && !reputation ? "GoPlus did not answer: the screening is provisional" : undefined,
    };
  }

  return {
    examine,
    screen: async (wallet, terms) => (await examine(wallet, terms)).response,
    isListed: async (wallet) => (await findListed(readAddress(wallet))).listed.entries.length > 0,
    isListCurrent: async () => (await sanctions.search("")).isCurrent,
  };
}
