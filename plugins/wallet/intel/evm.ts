import type { Upstream } from "#plugin";
import type { Registry } from "../names/registry.ts";
import { readEther, readTransactionCount, readUsdcOnBase } from "./evm-reads.ts";
import { type EvmSource, type FindOut, NO_BALANCES } from "./findings.ts";
import type { Gather, Sources } from "./gather.ts";

export interface EvmOptions {
  readonly base: Upstream;
  readonly ethereum: Upstream;
  readonly names: Registry;
  readonly gather: Gather;
}

/** What Base, Ethereum and ENS know of an address (0x-prefixed, in lower case). */
export function createEvmFindings({ base, ethereum, names, gather }: EvmOptions): FindOut {
  const sources = {
    base_eth: (key, signal) => readEther(base, key, signal),
    eth_eth: (key, signal) => readEther(ethereum, key, signal),
    base_usdc: (key, signal) => readUsdcOnBase(base, key, signal),
    base_tx_count: (key, signal) => readTransactionCount(base, key, signal),
    eth_tx_count: (key, signal) => readTransactionCount(ethereum, key, signal),
    ens_name: names.primaryName,
  } satisfies Sources<EvmSource>;

  return async (key, signal) => {
    const { values, ...rest } = await gather(sources, key, signal);
    const { base_eth, eth_eth, base_usdc, base_tx_count, eth_tx_count, ens_name } = values;
    return {
      chain_inferred: "ethereum",
      balances: { ...NO_BALANCES, base_eth, eth_eth, base_usdc },
      activity: { base_tx_count, has_history: toHasHistory([base_tx_count, eth_tx_count]) },
      identity: { ens_name, sns_name: null },
      ...rest,
    };
  };
}

/** Whether anything was ever sent; null when only a chain that failed could tell. */
function toHasHistory(counts: readonly (number | null)[]): boolean | null {
  if (counts.some((count) => count !== null && count > 0)) return true;
  return counts.includes(null) ? null : false;
}
