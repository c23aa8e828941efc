import { Problem, type Upstream, type UpstreamAnswer } from "#plugin";
import { KNOWN_CONTRACTS, KNOWN_IDS, KNOWN_NAMES, NATIVE_IDS } from "./known-coins.ts";
import { fromCoin, fromMarkets, type Members, type Quote, toMembers, unreadable } from "./quote.ts";
import { type ContractToken, PLATFORMS, type PricedToken, type SymbolToken, type TokenChain } from "./request.ts";

/** One attempt to find a token; null when it fails, and the next attempt is tried. */
type Find = () => Promise<Quote | null>;

/** How many of several coins with one symbol are checked for being on a chain. */
const MOST_CANDIDATES = 3;
const WITHOUT_TEXTS = { localization: "false", tickers: "false", community_data: "false", developer_data: "false" };

/**
 * Asks CoinGecko (API v3) for the price of a token, mostly in one request. Null when CoinGecko does not know the token.
 * @throws Problem `upstream-failed`, also for a malformed answer.
 */
export async function fetchQuote(coingecko: Upstream, token: PricedToken, signal: AbortSignal): Promise<Quote | null> {
  const read = createReader(coingecko, signal);
  if (token.kind === "contract") return read.byContract(token);
  for (const symbol of symbolsOf(token.symbol)) {
    const meant = { ...token, symbol };
    const quote = await firstFound(
      meant.chain === undefined ? findBySymbol(meant, read) : findOnChain(meant, meant.chain, read),
    );
    if (quote && symbol !== token.symbol)
      return assuming(quote, `"${token.symbol}" is taken as the name of ${symbol.toUpperCase()}`);
    if (quote) return quote;
  }
  return null;
}

/** The symbols that a text can mean, likeliest first: names and "$eth" mean the coin that is known by it, if there is one. */
function symbolsOf(text: string): readonly string[] {
  const bare = text.replace(/^\$(?=.)/, "");
  const known = KNOWN_NAMES.get(bare) ?? (KNOWN_IDS.has(bare) || KNOWN_CONTRACTS.has(bare) ? bare : undefined);
  return known === undefined ? [...new Set([text, bare])] : [known];
}

async function firstFound(attempts: readonly Find[]): Promise<Quote | null> {
  for (const find of attempts) {
    const quote = await find();
    if (quote) return quote;
  }
  return null;
}

/** Finds a token by its known contract or id first. The search also finds a coin whose id has changed. */
function findBySymbol({ symbol }: SymbolToken, read: Reader): Find[] {
  const known = KNOWN_CONTRACTS.get(symbol);
  const id = KNOWN_IDS.get(symbol);
  return [
    ...(known ? [async () => withoutPlace(await read.byContract(toContractToken(known)))] : []),
    ...(id === undefined
      ? []
      : [async () => (await read.markets({ ids: id })).find((coin) => coin.id === id)?.quote ?? null]),
    async () => {
      const coins = await read.search(symbol);
      const [largest] = coins;
      const quote = largest ? choose(largest.quote, largest, coins) : null;
      const dropped = `CoinGecko lists ${known?.contract ?? id} no more: the coin was found by its symbol`;
      return quote && (known || id) ? assuming(quote, dropped) : quote;
    },
  ];
}

/**
 * Adds the assumption that the coin was chosen by its market cap. Removes the price when no market cap tells the coins
 * apart.
 */
function choose(
  quote: Quote | null,
  { quote: listed }: FoundCoin,
  coins: readonly FoundCoin[],
  chain?: TokenChain,
): Quote | null {
  if (!quote || coins.length < 2) return quote;
  const several = `${coins.length} coins have the symbol ${quote.symbol}`;
  if (listed.market_cap_usd === null)
    return { ...quote, usd: null, refusal: `${several}, and nothing tells them apart: give a contract` };
  const which = chain === undefined ? "the one" : `of those on ${chain}, the one`;
  const assumptions = [`${several}: ${which} with the highest market cap is taken`, ...(quote.assumptions ?? [])];
  return { ...quote, assumptions };
}

/** Finds a coin that is the chain's own or has a contract there. */
function findOnChain({ symbol }: SymbolToken, chain: TokenChain, read: Reader): Find[] {
  const known = KNOWN_CONTRACTS.get(symbol);
  const id = KNOWN_IDS.get(symbol);
  return [
    ...(known?.chain === chain ? [() => read.byContract(toContractToken(known))] : []),
    ...(id === undefined ? [] : [() => read.onChain(id, chain)]),
    async () => {
      const coins = await read.search(symbol);
      const others = coins.filter((coin) => coin.id !== id);
      const found = await firstFound(
        others
          .slice(0, MOST_CANDIDATES)
          .map((coin) => async () => choose(await read.onChain(coin.id, chain), coin, coins, chain)),
      );
      return found ?? refuseUnread(others[MOST_CANDIDATES], coins.length, chain);
    },
  ];
}

/** Where more coins have the symbol than were checked, one of them may be on the chain. */
function refuseUnread(unread: FoundCoin | undefined, count: number, chain: TokenChain): Quote | null {
  if (!unread) return null;
  const several = `${count} coins have the symbol ${unread.quote.symbol}`;
  return { ...unread.quote, usd: null, refusal: `${several}, and the largest are not on ${chain}: give a contract` };
}

const assuming = (quote: Quote, why: string): Quote => ({
  ...quote,
  assumptions: [why, ...(quote.assumptions ?? [])],
});

const toContractToken = ({ chain, contract }: { chain: TokenChain; contract: string }): ContractToken => ({
  kind: "contract",
  chain,
  address: contract,
});

/** A quote without a chain, for a request that named none. */
const withoutPlace = (quote: Quote | null): Quote | null => quote && { ...quote, contract: null };

interface FoundCoin {
  readonly id: string;
  readonly quote: Quote;
}

interface Reader {
  byContract(token: ContractToken): Promise<Quote | null>;
  /** The coin with this id, if it is on the chain. */
  onChain(id: string, chain: TokenChain): Promise<Quote | null>;
  markets(which: Readonly<Record<string, string>>): Promise<readonly FoundCoin[]>;
  /** The coins with a symbol, the highest market cap first; on a tie, in code-unit order of ids. */
  search(symbol: string): Promise<readonly FoundCoin[]>;
}

function createReader(coingecko: Upstream, signal: AbortSignal): Reader {
  const markets: Reader["markets"] = async (which) => {
    const query = { vs_currency: "usd", precision: "full", ...which };
    const answer = await coingecko.get("/coins/markets", { query, signal });
    const rows = toJson(answer);
    if (!Array.isArray(rows)) throw unreadable("no list of coins");
    const givenMs = timeOf(answer);
    return rows.map((row) => ({ id: String(toMembers(row).id), quote: fromMarkets(toMembers(row), givenMs) }));
  };
  return {
    markets,

    async search(symbol) {
      const coins = await markets({ symbols: symbol, include_tokens: "all", per_page: "250" });
      return coins
        .filter(({ quote }) => quote.symbol === symbol.toUpperCase())
        .sort((one, other) => capOf(other.quote) - capOf(one.quote) || (one.id < other.id ? -1 : 1));
    },

    async byContract({ chain, address }) {
      const answer = await coingecko.get(`/coins/${PLATFORMS[chain]}/contract/${address}`, { signal });
      if (answer.status === 404) return null;
      const coin = toMembers(toJson(answer));
      const found = contractOn(coin, chain);
      if (found !== null && found.toLowerCase() !== address.toLowerCase()) throw unreadable("another token's price");
      return { ...fromCoin(coin, timeOf(answer)), contract: address };
    },

    async onChain(id, chain) {
      const answer = await coingecko.get(`/coins/${encodeURIComponent(id)}`, { query: WITHOUT_TEXTS, signal });
      if (answer.status === 404) return null;
      const coin = toMembers(toJson(answer));
      if ((coin.id ?? id) !== id) throw unreadable("another coin's price");
      const contract = contractOn(coin, chain);
      if (contract === null && NATIVE_IDS[chain] !== id) return null;
      return { ...fromCoin(coin, timeOf(answer)), contract };
    },
  };
}

function contractOn({ platforms }: Members, chain: TokenChain): string | null {
  const contract = toMembers(platforms)[PLATFORMS[chain]];
  return typeof contract === "string" && contract !== "" ? contract : null;
}

function toJson(answer: UpstreamAnswer): unknown {
  if (answer.status === 200) return answer.json();
  throw new Problem("upstream-failed", `CoinGecko answered with ${answer.status}`);
}

/** When the answer was given by CoinGecko's clock, or by a cache on the way that has kept it (RFC 9111); NaN when it has no date. */
const timeOf = ({ headers }: UpstreamAnswer): number =>
  Date.parse(headers.get("date") ?? "") + 1000 * (Number(headers.get("age")) || 0);

const capOf = ({ market_cap_usd }: Quote): number => market_cap_usd ?? -1;
