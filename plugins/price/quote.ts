import { Problem } from "#plugin";

/** A coin's price, with the field names of schemas/TokenPriceResponse.json. */
export interface Quote {
  readonly symbol: string;
  readonly name: string;
  /** Null for a coin that is listed without a price. */
  readonly usd: number | null;
  readonly usd_24h_change_pct: number | null;
  readonly market_cap_usd: number | null;
  /** The contract on the chain that was asked for; null without a chain, and for a chain's own coin. */
  readonly contract: string | null;
  /** What was assumed, in sentences; absent when nothing was. */
  readonly assumptions?: string[];
  /** Why there is no price, when there is a particular reason. */
  readonly refusal?: string;
}

/** The oldest acceptable price of a coin without trade. CoinGecko shows the last price of a dead market for ever. */
const LONGEST_STILL_MS = 24 * 60 * 60 * 1000;

/** An older price is sold with its time: CoinGecko updates traded coins every few minutes. */
const LONGEST_SILENT_MS = 60 * 60 * 1000;

/** The members of a JSON object from CoinGecko, not yet checked. */
export type Members = Readonly<Record<string, unknown>>;

/** Reads one item of `/coins/markets`. @param givenMs when the answer was given; NaN when it does not say. */
export const fromMarkets = (coin: Members, givenMs: number): Quote =>
  refuseStill(
    toQuote(coin, coin.current_price, coin.price_change_percentage_24h, coin.market_cap),
    coin.last_updated,
    givenMs,
  );

/** Reads the answer of `/coins/{platform}/contract/{address}` and of `/coins/{id}`. @param givenMs as for `fromMarkets`. */
export function fromCoin(coin: Members, givenMs: number): Quote {
  const { current_price, price_change_percentage_24h, market_cap } = toMembers(coin.market_data);
  const quote = toQuote(coin, toMembers(current_price).usd, price_change_percentage_24h, toMembers(market_cap).usd);
  return refuseStill(quote, coin.last_updated, givenMs);
}

/**
 * Says of an old price when it was updated, and removes the last one of a dead market: updated long before the answer's
 * own date, and without a change in 24 hours. Both times are from CoinGecko's clock.
 */
function refuseStill(quote: Quote, updated: unknown, givenMs: number): Quote {
  const at = typeof updated === "string" ? Date.parse(updated) : Number.NaN;
  const age = givenMs - at;
  if (!(age > LONGEST_SILENT_MS)) return quote;
  const time = new Date(at).toISOString();
  if (age > LONGEST_STILL_MS && quote.usd_24h_change_pct === null)
    return { ...quote, usd: null, refusal: `CoinGecko has no price of ${quote.name} since ${time.slice(0, 10)}` };
  return { ...quote, assumptions: [`CoinGecko has not updated this price since ${time}: it is taken to hold`] };
}

/** The members of a JSON value; none when it is not an object. */
export const toMembers = (value: unknown): Members => Object(value);

/** The error for a malformed answer: the caller is not charged. */
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
    contract: null,
  };
}

/** Null for 0: CoinGecko writes 0 for an unknown market cap, and a price of 0 is no price. */
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
