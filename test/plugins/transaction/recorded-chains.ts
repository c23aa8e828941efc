import transaction from "../../../plugins/transaction/index.ts";
import { type Replay, replay } from "../../support/sources/replay.ts";
import { createHost, type Reach, type Serve, serve } from "../host.ts";

export const CHAINS = ["base", "ethereum", "solana"] as const;
export type Chain = (typeof CHAINS)[number];

/** Where they are asked. */
const URLS = { base: "https://base.test", ethereum: "https://ethereum.test", solana: "https://solana.test" };
/** What only transactions of EVM chains have, in those of Solana. */
export const NO_EVM = {
  block_number: null,
  timestamp: null,
  from_address: null,
  to_address: null,
  value_wei: null,
  value_eth: null,
  gas_used: null,
  input_calldata_hex: null,
};
/** A recorded transaction of each. */
export const TX_HASHES = {
  base: "0x07471adfe8f4ec553c1199f495be97fc8be8e0626ae307281c22534460184ed1",
  ethereum: "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
  solana: "4G24SgaZ3gU92HAB8xwSVg6WXS7NcGtUpHMnQ5RTwBw9bG5x8y6co5TzqqPXbExovY2NAuPjE9393TCHFZVhS8K9",
};
/** One that no chain has. */
export const UNKNOWN = {
  base: `0x${"1".padStart(64, "0")}`,
  ethereum: `0x${"1".padStart(64, "0")}`,
  solana: "1".repeat(64),
};
/** Answers with recorded cases. */
export const record = (chain: Chain, ...cases: string[]): Replay =>
  replay(URLS[chain], `plugins/transaction/recordings/${chain}/transactions.json`, cases);

/** The service over those. */
export const start = (reach: Reach = {}): Promise<Serve> =>
  serve("decode_tx", transaction, createHost({}, { urls: URLS, retries: 0, ...reach }));
