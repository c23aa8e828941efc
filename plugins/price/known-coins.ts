import recorded from "./recordings/coingecko/known-coins.json" with { type: "json" };
import type { TokenChain } from "./request.ts";

/**
 * CoinGecko ids by well-known symbols (lower case). Other coins use the same symbols, some of them to deceive, and can
 * report any market cap. Symbols that are not listed here are searched. The recording names the source of the ids.
 */
export const KNOWN_IDS: ReadonlyMap<string, string> = new Map(
  recorded.exchanges[0]?.response.json.map(({ id, symbol }) => [symbol, id]),
);

/** The symbols of the same coins by their names and ids (lower case): other coins have such a name as their symbol. */
export const KNOWN_NAMES: ReadonlyMap<string, string> = new Map(
  recorded.exchanges[0]?.response.json
    .flatMap(({ id, name, symbol }) => [name.toLowerCase(), id].map((called): [string, string] => [called, symbol]))
    .filter(([called]) => !KNOWN_IDS.has(called)),
);

export interface KnownContract {
  readonly chain: TokenChain;
  /** In lower case. */
  readonly contract: string;
}

/** The tokens in which this service is paid. Their contracts are certain, while their ids at CoinGecko can change. */
export const KNOWN_CONTRACTS: ReadonlyMap<string, KnownContract> = new Map([
  ["usdc", { chain: "base", contract: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913" }],
  ["jpyc", { chain: "polygon", contract: "0xe7c3d8c9a439fede00d2600032d5db0be71c3c29" }],
]);

/** The ids of the chains' own coins, which have no contract. */
export const NATIVE_IDS: Readonly<Record<TokenChain, string>> = {
  base: "ethereum",
  ethereum: "ethereum",
  solana: "solana",
  polygon: "polygon-ecosystem-token",
  arbitrum: "ethereum",
  optimism: "ethereum",
  bsc: "binancecoin",
  avalanche: "avalanche-2",
};
