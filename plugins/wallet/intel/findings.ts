import type { Plugins } from "#plugin";
import type { SentWallet } from "./gather.ts";

/** The sources of EVM and of Solana wallets, with the names used in `errors`. */
export type EvmSource = "base_eth" | "eth_eth" | "base_usdc" | "base_tx_count" | "eth_tx_count" | "ens_name";
export type SolanaSource = "sol" | "solana_usdc" | "solana_history" | "sns_name";

/** The answer of /v1/intel/wallet (schemas/IntelWalletResponse.json). */
export type IntelBundle = Required<Plugins["wallet"]["intel"]["output"]>;

/** The findings of one chain family; fields that failed or belong to the other family are null. */
interface IntelFindings extends Omit<IntelBundle, "wallet" | "fetched_at" | "cache_age_seconds"> {
  /** When the oldest part was read: milliseconds since the Unix epoch. */
  readonly readAtMs: number;
}

/** @throws Problem `upstream-failed` when no source answered. */
export type FindOut = (sent: SentWallet, signal: AbortSignal) => Promise<IntelFindings>;

/** All balances unknown. */
export const NO_BALANCES = { base_eth: null, eth_eth: null, base_usdc: null, sol: null, solana_usdc: null } as const;

/**
 * Whether a wallet was ever in use: it was seen on a chain, or it holds something; null when neither is so and a source
 * failed. A node that has pruned its history sees nothing, but its balances tell.
 */
export function toHasHistory(seen: readonly (boolean | null)[], balances: readonly (string | null)[]): boolean | null {
  const signs = [...seen, ...balances.map((balance) => (balance === null ? null : balance !== "0"))];
  if (signs.includes(true)) return true;
  return signs.includes(null) ? null : false;
}
