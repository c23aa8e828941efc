import { Problem } from "#plugin";

/** What is known of a coin's price, in the fields of specification 2.9. */
export interface Quote {
  readonly symbol: string;
  readonly name: string;
  /** Null for a coin that is listed without a price. */
  readonly usd: number | null;
  readonly usd_24h_change_pct: number | null;
  readonly market_cap_usd: number | null;
}

/** The members of an answer, of which nothing is believed yet. */
export type Members = Readonly<Record<string, unknown>>;

/** A coin in a list of `/coins/markets`. */
export const fromMarkets = (coin: Members): Quote =>
  toQuote(coin, coin.current_price, coin.price_change_percentage_24h, coin.market_cap);

/** The coin of `/coins/{platform}/contract/{address}`. */
export function fromContract(coin: Members): Quote {
  const { current_price, price_change_percentage_24h, market_cap } = toMembers(coin.market_data);
  return toQuote(coin, toMembers(current_price).usd, price_change_percentage_24h, toMembers(market_cap).usd);
}

/** The members of what may be no object at all. */
export const toMembers = (value: unknown): Members => Object(value);

/** An answer that cannot be what it should be is worth no money. */
export const unreadable = (what: string): Problem =>
  new Problem("upstream-failed", `CoinGecko gave an answer that makes no sense: ${what}`);

function toQuote({ symbol, name }: Members, usd: unknown, change: unknown, cap: unknown): Quote {
  if (typeof symbol !== "string" || typeof name !== "string") throw unreadable("a coin without a name");
  return {
    symbol: symbol.toUpperCase(),
    name,
    usd: toAmount(usd),
    usd_24h_change_pct: toNumber(change),
    market_cap_usd: toAmount(cap),
  };
}

/** CoinGecko writes 0 for a market cap that it cannot tell; a price of 0 would be none. */
function toAmount(value: unknown): number | null {
  const amount = toNumber(value);
  if (amount !== null && amount < 0) throw unreadable("a negative amount");
  return amount === 0 ? null : amount;
}

function toNumber(value: unknown): number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw unreadable("a number that is none");
}
