import type { Upstream } from "#plugin";
import type { Registry } from "../names/registry.ts";
import { type FindOut, NO_BALANCES, type SolanaSource } from "./findings.ts";
import type { Gather, Sources } from "./gather.ts";
import { readHasHistory, readSol, readUsdcOnSolana } from "./solana-reads.ts";

export interface SolanaOptions {
  readonly solana: Upstream;
  readonly names: Registry;
  readonly gather: Gather;
}

/** What Solana and SNS know of a public key (base58). */
export function createSolanaFindings({ solana, names, gather }: SolanaOptions): FindOut {
  const sources = {
    sol: (key, signal) => readSol(solana, key, signal),
    solana_usdc: (key, signal) => readUsdcOnSolana(solana, key, signal),
    solana_history: (key, signal) => readHasHistory(solana, key, signal),
    sns_name: names.primaryName,
  } satisfies Sources<SolanaSource>;

  return async (key, signal) => {
    const { values, ...rest } = await gather(sources, key, signal);
    const { sol, solana_usdc, solana_history, sns_name } = values;
    return {
      chain_inferred: "solana",
      balances: { ...NO_BALANCES, sol, solana_usdc },
      activity: { base_tx_count: null, has_history: solana_history },
      identity: { ens_name: null, sns_name },
      ...rest,
    };
  };
}
