/** A token whose amounts can be shown with its symbol. */
export interface KnownToken {
  readonly symbol: string;
  readonly decimals: number;
}

const ROWS: readonly (readonly [address: string, symbol: string, decimals: number])[] = [
  ["0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "USDC", 6], // Ethereum
  ["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USDC", 6], // Base
  ["0x3c499c542cef5e3811e1192ce70d8cc03d5c3359", "USDC", 6], // Polygon
  ["0xaf88d065e77c8cc2239327c5edb3a432268e5831", "USDC", 6], // Arbitrum
  ["0x0b2c639c533813f4aa9d7837caf62653d097ff85", "USDC", 6], // Optimism
  ["0xdac17f958d2ee523a2206206994597c13d831ec7", "USDT", 6], // Ethereum
  ["0x6b175474e89094c44da98b954eedeac495271d0f", "DAI", 18], // Ethereum
  ["0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", "WETH", 18], // Ethereum
  ["0x4200000000000000000000000000000000000006", "WETH", 18], // Base, Optimism
  ["0x2260fac5e5542a773aa44fbcfedf7c193bc2c599", "WBTC", 8], // Ethereum
  ["0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf", "cbBTC", 8], // Base, Ethereum
  ["0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42", "EURC", 6], // Base
  ["0xe7c3d8c9a439fede00d2600032d5db0be71c3c29", "JPYC", 18], // Polygon
];

const TOKENS: ReadonlyMap<string, KnownToken> = new Map(
  ROWS.map(([address, symbol, decimals]) => [address, { symbol, decimals }]),
);

/** A well-known token; undefined for any other address. */
export const tokenAt = (address: unknown): KnownToken | undefined =>
  typeof address === "string" ? TOKENS.get(address.toLowerCase()) : undefined;
