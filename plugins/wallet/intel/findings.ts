import type { ScreenResponse } from "../screen/screening.ts";
import type { SourceError } from "./gather.ts";

/** What is read about EVM and about Solana wallets, by the names that `errors` has. */
export type EvmSource = "base_eth" | "eth_eth" | "base_usdc" | "base_tx_count" | "eth_tx_count" | "ens_name";
export type SolanaSource = "sol" | "solana_usdc" | "solana_history" | "sns_name";

/** What one family of chains has to say about a wallet (specification 2.11); null is what failed, or is the other family's. */
export interface Findings {
  readonly chain_inferred: "ethereum" | "solana";
  /** Exact decimal text. */
  readonly balances: Readonly<Record<"base_eth" | "eth_eth" | "base_usdc" | "sol" | "solana_usdc", string | null>>;
  readonly activity: { readonly base_tx_count: number | null; readonly has_history: boolean | null };
  readonly identity: { readonly ens_name: string | null; readonly sns_name: string | null };
  readonly sanctions: ScreenResponse | null;
  readonly errors: SourceError<EvmSource | SolanaSource | "sanctions">[];
  /** When the oldest of all this was read: milliseconds since the Unix epoch. */
  readonly readAtMs: number;
}

/** @param key the wallet's canonical spelling. @throws Problem `upstream-failed` when there is nothing to say. */
export type FindOut = (key: string, signal: AbortSignal) => Promise<Findings>;

/** No balance anywhere is known. */
export const NO_BALANCES = { base_eth: null, eth_eth: null, base_usdc: null, sol: null, solana_usdc: null } as const;
