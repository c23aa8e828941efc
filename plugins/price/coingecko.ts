import { Problem, type Upstream, type UpstreamAnswer } from "#plugin";
import { fromContract, fromMarkets, type Quote, toMembers, unreadable } from "./quote.ts";
import type { ContractToken, PricedToken } from "./request.ts";
import { KNOWN_SYMBOLS } from "./symbols.ts";

/**
 * Asks CoinGecko (API v3) for the price of a token, in one request. Null when CoinGecko does not know the token.
 * @throws Problem `upstream-failed`, also for a malformed answer.
 */
export function fetchQuote(coingecko: Upstream, token: PricedToken, signal: AbortSignal): Promise<Quote | null> {
  return token.kind === "symbol"
    ? fetchBySymbol(coingecko, token.symbol, signal)
    : fetchByContract(coingecko, token, signal);
}

/** Of several coins with one symbol, the one with the highest market cap wins; on a tie, the first id in code-unit order. */
async function fetchBySymbol(coingecko: Upstream, symbol: string, signal: AbortSignal): Promise<Quote | null> {
  const id = KNOWN_SYMBOLS.get(symbol);
  const which = id === undefined ? { symbols: symbol, include_tokens: "all", per_page: "250" } : { ids: id };
  const query = { vs_currency: "usd", precision: "full", ...which };
  const answer = await coingecko.get("/coins/markets", { query, signal });
  const rows = toJson(answer);
  if (!Array.isArray(rows)) throw unreadable("no list of coins");
  const [best] = rows
    .map((row) => ({ id: String(toMembers(row).id), quote: fromMarkets(toMembers(row)) }))
    .filter((coin) => (id === undefined ? coin.quote.symbol === symbol.toUpperCase() : coin.id === id))
    .sort((one, other) => capOf(other.quote) - capOf(one.quote) || (one.id < other.id ? -1 : 1));
  return best?.quote ?? null;
}

async function fetchByContract(
  coingecko: Upstream,
  { platform, address }: ContractToken,
  signal: AbortSignal,
): Promise<Quote | null> {
  const answer = await coingecko.get(`/coins/${platform}/contract/${address}`, { signal });
  return answer.status === 404 ? null : fromContract(toMembers(toJson(answer)));
}

function toJson(answer: UpstreamAnswer): unknown {
  if (answer.status === 200) return answer.json();
  throw new Problem("upstream-failed", `CoinGecko answered with ${answer.status}`);
}

const capOf = ({ market_cap_usd }: Quote): number => market_cap_usd ?? -1;
