import { expect } from "chai";
import price from "../../../plugins/price/index.ts";
import type { Problem } from "../../../runtime/api/problem.ts";
import { breaks, hangs, type Line, stalls } from "../../support/sources/scripted-source.ts";
import { createWorldClock, type WorldClock } from "../../support/world/clock.ts";
import { type ListedCoin, openCoinGecko } from "../../support/world/coingecko.ts";
import { askForPause, type Manners } from "../../support/world/manners.ts";
import type { WorldSource } from "../../support/world/source.ts";
import { createHost, problemOf, type Reach, type Serve, serve } from "../host.ts";

const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
const OTHER = `0x${"77".repeat(20)}`;
const COINS: readonly ListedCoin[] = [
  { id: "ethereum", symbol: "eth", name: "Ethereum", usd: 2000 },
  { id: "bitcoin", symbol: "btc", name: "Bitcoin", usd: 97_000, cap: 2e12 },
  { id: "harrypotterobamasonic10in", symbol: "bitcoin", name: "HarryPotterObamaSonic10Inu (ETH)", usd: 0.06, cap: 6e7 },
  { id: "eth-of-the-moon", symbol: "$eth", name: "Eth of the Moon", usd: 0.01, cap: 9e7 },
  { id: "usd-coin", symbol: "usdc", name: "USDC", platforms: { base: USDC } },
  { id: "late", symbol: "late", usd: 9, daysOld: 3, change: -2.5 },
  { id: "gone", symbol: "gone", name: "Gone", usd: 7, daysOld: 3, platforms: { base: OTHER } },
  { id: "slow-market", symbol: "slo", name: "Slow Market", usd: 8, daysOld: 0.9 },
  { id: "unlisted", symbol: "unl", name: "Unlisted", usd: null },
  ...Array.from({ length: 60 }, (_, at) => ({ id: `coin-${at}`, symbol: `c${at}` })),
];
/** CoinGecko's free plan. */
const FREE_PLAN: Manners = { rate: { perSecond: 0.5, burst: 30 }, refusal: askForPause(60) };

describe("prices from CoinGecko as it is in the world", () => {
  let clock: WorldClock;
  let source: WorldSource;
  let ask: Serve;
  beforeEach(async () => {
    clock = createWorldClock();
    source = await openCoinGecko({ clock, coins: COINS });
    ask = await start();
  });
  afterEach(() => source.close());
  const start = (reach: Reach = {}): Promise<Serve> =>
    serve(
      "price_token",
      price,
      createHost({ clock }, { urls: { coingecko: source.url }, pause: clock.pause, ...reach }),
    );
  const fail = async (input: unknown): Promise<Problem> => problemOf(ask(input));

  it("keep to the free plan's rate, however many tokens are asked for", async () => {
    source.behave(FREE_PLAN);
    for (let at = 0; at < 60; at += 1) expect(await ask({ symbol: `c${at}` })).to.include({ usd: 1 });
    expect(source.refused()).to.equal(0);
  });

  it("are sold for a minute while CoinGecko refuses, and then fail with its pause", async () => {
    await ask({ symbol: "ETH" });
    source.behave({ rate: { perSecond: 0, burst: 0 }, refusal: askForPause(90) });
    expect((await fail({ symbol: "USDC" })).options.retryAfter).to.equal(90);
    clock.pass(59_000);
    expect(await ask({ symbol: "ETH" })).to.include({ usd: 2000, age_seconds: 59 });
    clock.pass(2_000);
    expect((await fail({ symbol: "ETH" })).code).to.equal("upstream-failed");
    expect(source.asked).to.have.length(2); // CoinGecko's pause is kept.
    source.behave({});
    clock.pass(30_000);
    expect(await ask({ symbol: "ETH" })).to.include({ usd: 2000, age_seconds: 0 });
  });

  const wrong: Record<string, Line> = {
    "a page of HTML": { headers: { "content-type": "text/html" }, body: "<html>Just a moment...</html>" },
    "an error with status 200": JSON.stringify({ status: { error_code: 429 } }),
    "half of its answer": '[{"id":"ethereum","symbol":"eth","name":"Eth',
    "a broken connection": breaks,
    "status 403": 403,
    "status 503": 503,
    "no answer": hangs,
    "the beginning of an answer": stalls,
  };
  for (const [what, line] of Object.entries(wrong))
    it(`are not sold when it gives ${what}`, async () => {
      ask = await start({ timeoutMs: 100 });
      source.behave({ fault: () => line });
      for (const input of [{ symbol: "ETH" }, { chain: "base", contract: USDC }, { symbol: "C1", chain: "base" }])
        expect((await fail(input)).code).to.equal("upstream-failed");
    });

  it("are those of the coin that is known by a name, not of another one that has the name as its symbol", async () => {
    const bitcoin = { symbol: "BTC", name: "Bitcoin", usd: 97_000 };
    for (const symbol of ["bitcoin", " Bitcoin "])
      expect(await ask({ symbol })).to.deep.include({
        ...bitcoin,
        assumptions: ['"bitcoin" is taken as the name of BTC'],
      });
    expect(await ask({ symbol: "BTC" }))
      .to.include(bitcoin)
      .and.not.have.property("assumptions");
    expect(await ask({ symbol: "ethereum", chain: "base" })).to.include({ symbol: "ETH", chain: "base", usd: 2000 });
    expect((await fail({ symbol: "bitcoin", chain: "base" })).code).to.equal("nothing-found");
  });

  it("are those of the coin that is known by what follows a $", async () => {
    for (const input of [{ symbol: "$ETH" }, { symbol: "$Ethereum" }, { symbol: "$eth", chain: "base" }]) {
      const { name, usd, assumptions } = await ask(input);
      expect({ name, usd }).to.deep.equal({ name: "Ethereum", usd: 2000 });
      expect(assumptions).to.deep.equal([`"${input.symbol.toLowerCase()}" is taken as the name of ETH`]);
    }
    expect(await ask({ symbol: "$USDC" })).to.include({ name: "USDC" });
    expect(await ask({ symbol: "$SLO" })).to.include({ name: "Slow Market" });
    expect((await fail({ symbol: "$" })).code).to.equal("nothing-found");
  });

  it("are asked for again when only the first answer is broken", async () => {
    source.behave({ fault: ({ times }) => (times === 0 ? breaks : undefined) });
    expect(await ask({ symbol: "ETH" })).to.include({ usd: 2000 });
  });

  it("are not those of another token than the contract's, or of another coin than was asked for", async () => {
    const coin = {
      id: "x",
      symbol: "x",
      name: "X",
      platforms: { base: OTHER },
      market_data: { current_price: { usd: 5 } },
    };
    source.behave({ fault: () => JSON.stringify(coin) });
    expect((await fail({ chain: "base", contract: USDC })).message).to.match(/another token's price$/);
    expect((await fail({ chain: "base", symbol: "ETH" })).message).to.match(/another coin's price$/);
    expect(await ask({ chain: "base", contract: OTHER })).to.include({ usd: 5 });
  });

  it("are not the last ones of a market that is gone", async () => {
    for (const input of [{ symbol: "GONE" }, { chain: "base", contract: OTHER }, { symbol: "GONE", chain: "base" }]) {
      const { code, message } = await fail(input);
      expect(code).to.equal("nothing-found");
      expect(message).to.match(/^CoinGecko has no price of Gone since \d{4}-\d\d-\d\d$/);
    }
    for (const [symbol, price] of [
      ["SLO", 8],
      ["LATE", 9],
    ]) {
      const { usd, assumptions } = await ask({ symbol });
      expect(usd).to.equal(price);
      expect((assumptions as string[]).join()).to.match(
        /^CoinGecko has not updated this price since \d{4}-\d\d-\d\dT[\d:.]+Z: it is taken to hold$/,
      );
    }
    expect((await fail({ symbol: "UNL" })).message).to.equal("CoinGecko lists Unlisted without a price");
  });
});
