import type { Clock, Upstream } from "#plugin";
import type { NameRegistry } from "../names/registry.ts";
import { refuseTokenAccount } from "../token-account.ts";
import { type FindOut, NO_BALANCES, type SolanaSource, toHasHistory } from "./findings.ts";
import type { Gather, WalletSources } from "./gather.ts";
import { readHasHistory, readSol, readUsdcOnSolana } from "./solana-reads.ts";

export interface SolanaOptions {
  readonly solana: Upstream;
  readonly clock: Clock;
  readonly names: NameRegistry;
  readonly gather: Gather;
}

/** Findings from Solana and SNS. The key is a base58 public key. */
export function createSolanaFindings({ solana, clock, names, gather }: SolanaOptions): FindOut {
  const sources = {
    sol: (key, signal) => readSol(solana, key, { clock, signal }),
    solana_usdc: (key, signal) => readUsdcOnSolana(solana, key, { clock, signal }),
    solana_history: (key, signal) => readHasHistory(solana, key, signal),
    sns_name: names.primaryName,
  } satisfies WalletSources<SolanaSource>;

  return async (sent, signal) => {
    const [{ values, ...rest }] = await Promise.all([
      gather(sources, sent, signal),
      refuseTokenAccount(solana, sent.key, signal),
    ]);
    const { sol, solana_usdc, solana_history, sns_name } = values;
    return {
      chain_inferred: "solana",
      balances: { ...NO_BALANCES, sol, solana_usdc },
      activity: { base_tx_count: null, has_history: toHasHistory([solana_history], [sol, solana_usdc]) },
      identity: { ens_name: null, sns_name },
      ...rest,
    };
  };
}
