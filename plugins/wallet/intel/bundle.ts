import type { Host } from "#plugin";
import { type ChainAddressRules, readChainAddress } from "../address.ts";
import type { NameRegistry } from "../names/registry.ts";
import type { Screening } from "../screen/screening.ts";
import { createEvmFindings } from "./evm.ts";
import type { FindOut, IntelBundle } from "./findings.ts";
import { createGather } from "./gather.ts";
import { createSolanaFindings } from "./solana.ts";

/** Balances and activity are read on Ethereum and Base. */
export const WALLET_RULES: ChainAddressRules = { field: "wallet", chainIds: ["1", "8453"] };

export interface IntelOptions {
  readonly registries: Readonly<Record<"ENS" | "SNS", NameRegistry>>;
  /** When omitted, the wallet is not screened. */
  readonly screening?: Screening;
  /** Whether what a Base node says counts although the node is behind its chain. */
  readonly takesLag?: boolean;
  /** How long to wait for each source; default 5 seconds. */
  readonly patienceMs?: number;
}

/** Reads all sources of a wallet at once. @throws the errors of `readChainAddress` and Gather. */
export function createIntel(
  host: Pick<Host, "cache" | "clock" | "log" | "upstream">,
  { registries, screening, takesLag = false, patienceMs = 5000 }: IntelOptions,
): (wallet: string, signal: AbortSignal) => Promise<IntelBundle> {
  const { cache, clock, log, upstream } = host;
  // Apart from each other: what a node behind its chain says must not be sold as current.
  const place = takesLag ? "intel-lagging-1" : "intel-1";
  const gather = createGather({ cache, clock, log, screening, patienceMs, place });
  const [base, ethereum, solana] = [upstream("base"), upstream("ethereum"), upstream("solana")];
  const families: Readonly<Record<"ethereum" | "solana", FindOut>> = {
    ethereum: createEvmFindings({ base, ethereum, clock: takesLag ? undefined : clock, names: registries.ENS, gather }),
    solana: createSolanaFindings({ solana, clock, names: registries.SNS, gather }),
  };

  return async (wallet, signal) => {
    const { chain, key } = readChainAddress(wallet, WALLET_RULES);
    const { readAtMs, ...found } = await families[chain]({ wallet, key }, signal);
    return {
      wallet,
      ...found,
      fetched_at: Math.floor(readAtMs / 1000),
      cache_age_seconds: Math.max(0, Math.floor((clock.now() - readAtMs) / 1000)),
    };
  };
}
