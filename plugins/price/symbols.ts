/**
 * CoinGecko ids of well-known symbols. Other coins use the same symbols, some of them to deceive, and can report any
 * market cap. Symbols that are not here are looked up.
 */
export const KNOWN_SYMBOLS: ReadonlyMap<string, string> = new Map([
  // Coins of chains
  ["ada", "cardano"],
  ["apt", "aptos"],
  ["atom", "cosmos"],
  ["avax", "avalanche-2"],
  ["bch", "bitcoin-cash"],
  ["bnb", "binancecoin"],
  ["btc", "bitcoin"],
  ["doge", "dogecoin"],
  ["dot", "polkadot"],
  ["eth", "ethereum"],
  ["ltc", "litecoin"],
  ["near", "near"],
  ["pol", "polygon-ecosystem-token"],
  ["sol", "solana"],
  ["sui", "sui"],
  ["trx", "tron"],
  ["xlm", "stellar"],
  ["xmr", "monero"],
  ["xrp", "ripple"],
  // Stablecoins
  ["dai", "dai"],
  ["eurc", "euro-coin"],
  ["jpyc", "jpy-coin"],
  ["pyusd", "paypal-usd"],
  ["usdc", "usd-coin"],
  ["usdt", "tether"],
  // Tokens
  ["aave", "aave"],
  ["arb", "arbitrum"],
  ["link", "chainlink"],
  ["op", "optimism"],
  ["pepe", "pepe"],
  ["shib", "shiba-inu"],
  ["uni", "uniswap"],
  ["wbtc", "wrapped-bitcoin"],
  ["weth", "weth"],
  ["wsteth", "wrapped-steth"],
]);
