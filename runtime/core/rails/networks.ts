import type { RailManifest, SiteManifest } from "../set/manifest.ts";

/** Whether a site sells for test money. All rails of a site are of one kind. */
export const isTestSite = ({ rails = [] }: Partial<Pick<SiteManifest, "rails">>): boolean =>
  rails.some(({ testnet }) => testnet);

/** The prefix of descriptions on a test site. */
export const TEST_MONEY = "Test money: ";

/** Adds the prefix to a description; documents and challenges are made from the result. */
export const sayTestMoney = <Described extends { readonly description?: string }>(what: Described): Described => ({
  ...what,
  description: TEST_MONEY + (what.description ?? ""),
});

/** Well-known networks by CAIP-2 name, with whether they are test networks. Fees are in ETH unless `coin` is set. */
const KNOWN: Readonly<Record<string, { readonly name: string; readonly isTest: boolean; readonly coin?: string }>> = {
  "eip155:1": { name: "Ethereum", isTest: false },
  "eip155:10": { name: "OP Mainnet", isTest: false },
  "eip155:56": { name: "BNB Smart Chain", isTest: false, coin: "BNB" },
  "eip155:137": { name: "Polygon", isTest: false, coin: "POL" },
  "eip155:8453": { name: "Base", isTest: false },
  "eip155:42161": { name: "Arbitrum One", isTest: false },
  "eip155:43114": { name: "Avalanche", isTest: false, coin: "AVAX" },
  "eip155:43113": { name: "Avalanche Fuji", isTest: true, coin: "AVAX" },
  "eip155:80002": { name: "Polygon Amoy", isTest: true, coin: "POL" },
  "eip155:84532": { name: "Base Sepolia", isTest: true },
  "eip155:421614": { name: "Arbitrum Sepolia", isTest: true },
  "eip155:11155111": { name: "Sepolia", isTest: true },
  "eip155:11155420": { name: "OP Sepolia", isTest: true },
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": { name: "Solana", isTest: false, coin: "SOL" },
  "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1": { name: "Solana devnet", isTest: true, coin: "SOL" },
  "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z": { name: "Solana testnet", isTest: true, coin: "SOL" },
};

/** A sentence when a rail's `testnet` contradicts its well-known network. */
export function explainTestnet({
  network,
  testnet = false,
}: Pick<RailManifest, "network" | "testnet">): string | undefined {
  const known = KNOWN[network];
  if (!known || known.isTest === testnet) return undefined;
  return known.isTest
    ? `${known.name} is a test network, whose money is worth nothing: say "testnet: true"`
    : `${known.name} is no test network, its money is real: leave "testnet" out`;
}

/** The native coin in which a network takes its fees; `coins` when unknown. @param network CAIP-2 */
export function coinOf(network: string): { readonly symbol: string; readonly decimals: number } {
  const known = KNOWN[network];
  const decimals = network.startsWith("solana:") ? 9 : 18;
  return { symbol: known ? (known.coin ?? "ETH") : "coins", decimals };
}

/** A network's name for people; the CAIP-2 name when it is not well known. */
export const networkNameOf = (network: string): string => KNOWN[network]?.name ?? network;
