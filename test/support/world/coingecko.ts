import { openWorldSource, type WorldSource, type WorldSourceOptions } from "./source.ts";

/** A coin that CoinGecko lists. */
export interface ListedCoin {
  readonly id: string;
  readonly symbol: string;
  /** Default: the id. */
  readonly name?: string;
  /** Default: 1. Null for a coin without a price. */
  readonly usd?: number | null;
  readonly cap?: number | null;
  /** Contracts by CoinGecko's chain names, in lower case. */
  readonly platforms?: Readonly<Record<string, string>>;
  /** How many days ago its price was last updated. */
  readonly daysOld?: number;
  /** The change of its price in 24 hours, in per cent. Default: null, as for a coin that nobody trades. */
  readonly change?: number;
}

export interface CoinGeckoOptions extends Omit<WorldSourceOptions, "answer"> {
  readonly coins: readonly ListedCoin[];
}

/** The price endpoints of CoinGecko's API v3 over HTTP. Its answers are dated by the machine's clock. */
export function openCoinGecko({ coins, ...rest }: CoinGeckoOptions): Promise<WorldSource> {
  return openWorldSource({
    ...rest,
    answer({ name, query }) {
      if (name === "/coins/markets") return coins.filter((coin) => isAsked(coin, query)).map(toMarket);
      const [, platform = "", address = ""] = /^\/coins\/([^/]+)\/contract\/([^/]+)$/.exec(name) ?? [];
      const [, id] = /^\/coins\/([^/]+)$/.exec(name) ?? [];
      const found = coins.find((coin) => (id === undefined ? coin.platforms?.[platform] === address : coin.id === id));
      return found && toCoin(found);
    },
  });
}

function isAsked({ id, symbol }: ListedCoin, query: URLSearchParams): boolean {
  const listOf = (key: string): readonly string[] => (query.get(key) ?? "").split(",");
  return query.has("ids") ? listOf("ids").includes(id) : listOf("symbols").includes(symbol);
}

const dateOf = ({ daysOld = 0 }: ListedCoin): string => new Date(Date.now() - daysOld * 86_400_000).toISOString();

const toMarket = (coin: ListedCoin) => ({
  id: coin.id,
  symbol: coin.symbol,
  name: coin.name ?? coin.id,
  current_price: coin.usd === undefined ? 1 : coin.usd,
  market_cap: coin.cap ?? null,
  price_change_percentage_24h: coin.change ?? null,
  last_updated: dateOf(coin),
});

const toCoin = (coin: ListedCoin) => ({
  id: coin.id,
  symbol: coin.symbol,
  name: coin.name ?? coin.id,
  platforms: coin.platforms ?? {},
  market_data: {
    current_price: { usd: coin.usd === undefined ? 1 : coin.usd },
    market_cap: { usd: coin.cap ?? null },
    price_change_percentage_24h: null,
    last_updated: dateOf(coin),
  },
  last_updated: dateOf(coin),
});
