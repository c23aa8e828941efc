import type { Clock, Upstream } from "#plugin";
import type { NameRegistry } from "../names/registry.ts";
import { whileCurrent } from "./current.ts";
import { readEther, readTransactionCount, readUsdcOnBase } from "./evm-reads.ts";
import { type EvmSource, type FindOut, NO_BALANCES, toHasHistory } from "./findings.ts";
import type { Gather, ReadSource, WalletSources } from "./gather.ts";

export interface EvmOptions {
  readonly base: Upstream;
  /** When given, a Base node that is behind by it is refused. */
  readonly clock?: Clock | undefined;
  readonly ethereum: Upstream;
  readonly names: NameRegistry;
  readonly gather: Gather;
}

/** Findings from Base, Ethereum and ENS. The key is a 0x address in lower case. */
export function createEvmFindings({ base, ethereum, clock, names, gather }: EvmOptions): FindOut {
  const atBase =
    <T>(read: (node: Upstream, key: string, signal: AbortSignal) => Promise<T>): ReadSource<T> =>
    (key, signal) =>
      clock ? whileCurrent(base, read(base, key, signal), { clock, signal }) : read(base, key, signal);
  const sources = {
    base_eth: atBase(readEther),
    eth_eth: (key, signal) => readEther(ethereum, key, signal),
    base_usdc: atBase(readUsdcOnBase),
    base_tx_count: atBase(readTransactionCount),
    eth_tx_count: (key, signal) => readTransactionCount(ethereum, key, signal),
    ens_name: names.primaryName,
  } satisfies WalletSources<EvmSource>;

  return async (sent, signal) => {
    const { values, ...rest } = await gather(sources, sent, signal);
    const { base_eth, eth_eth, base_usdc, base_tx_count, eth_tx_count, ens_name } = values;
    return {
      chain_inferred: "ethereum",
      balances: { ...NO_BALANCES, base_eth, eth_eth, base_usdc },
      activity: {
        base_tx_count,
        has_history: toHasHistory([base_tx_count, eth_tx_count].map(isAboveZero), [base_eth, eth_eth, base_usdc]),
      },
      identity: { ens_name, sns_name: null },
      ...rest,
    };
  };
}

const isAboveZero = (count: number | null): boolean | null => (count === null ? null : count > 0);
