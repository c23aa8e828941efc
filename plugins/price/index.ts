import { definePlugin, Problem } from "#plugin";
import { fetchQuote } from "./coingecko.ts";
import { checkRequest, type PricedToken, type TokenRequest, toPricedToken } from "./request.ts";

/** How long a fetched price is sold. */
const FRESH_MS = 60_000;

/** Prices of tokens in US dollars, from CoinGecko (/v1/price/token). */
export default definePlugin("price", ({ cache, clock, upstream }) => {
  const coingecko = upstream("coingecko");
  return {
    token: {
      check: checkRequest,

      async run(input, { signal }) {
        const token = toPricedToken(input);
        const kept = await cache.remember(toKey(token), { ttlMs: FRESH_MS, signal }, (shared) =>
          fetchQuote(coingecko, token, shared),
        );
        const quote = kept.value;
        if (!quote) throw new Problem("nothing-found", `CoinGecko knows no ${toWords(input)}`);
        const { usd, refusal, ...found } = quote;
        if (usd === null)
          throw new Problem("nothing-found", refusal ?? `CoinGecko lists ${quote.name} without a price`);
        const fetched_at = Math.floor(kept.storedAt / 1000);
        return {
          ...found,
          usd,
          chain: input.chain ?? null,
          contract: input.contract ?? quote.contract,
          source: "coingecko",
          fetched_at,
          age_seconds: Math.max(0, Math.floor(clock.now() / 1000) - fetched_at),
        };
      },
    },
  };
});

const toKey = (token: PricedToken): string =>
  token.kind === "symbol" ? `symbol:${token.chain ?? "any"}:${token.symbol}` : `${token.chain}:${token.address}`;

const toWords = ({ symbol, chain, contract }: TokenRequest): string =>
  contract
    ? `token at ${contract} on ${chain}`
    : `coin with the symbol ${symbol?.trim()}${chain ? ` on ${chain}` : ""}`;
