import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import fc from "fast-check";
import price from "../../plugins/price/index.ts";
import { createHost, problemOf, type Serve, serve } from "./host.ts";

/** A coin in a list of `/coins/markets`, as far as it matters. */
const toCoin = (id: string, facts: object = {}): object => ({
  ...{ id, symbol: "dup", name: `Coin ${id}`, current_price: 1.5, market_cap: 10, price_change_percentage_24h: 0 },
  ...facts,
});

describe("what CoinGecko says of a price", () => {
  let listed: unknown;
  let asked: URL[];
  const server = createServer((request, response) => {
    asked.push(new URL(request.url ?? "", "http://local"));
    response.writeHead(200, { "content-type": "application/json" });
    response.end(typeof listed === "string" ? listed : JSON.stringify(listed));
  });
  let ask: () => ReturnType<Serve>;
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`;
    // A host for each question, so that none is answered from memory.
    ask = async () =>
      (await serve("price_token", price, createHost({}, { urls: { coingecko: url } })))({ symbol: "DUP" });
  });
  beforeEach(() => {
    asked = [];
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it("is asked for with every coin of the symbol, and all digits", async () => {
    listed = [toCoin("one")];
    await ask();
    expect(asked.map(({ pathname }) => pathname)).to.deep.equal(["/api/v3/coins/markets"]);
    expect(Object.fromEntries((asked[0] as URL).searchParams)).to.deep.equal({
      ...{ vs_currency: "usd", precision: "full", symbols: "dup", include_tokens: "all", per_page: "250" },
    });
  });

  it("is read of the same coin, in whatever order the coins are listed", async () => {
    const caps = fc.constantFrom(null, 0, 10, 10.5, 2e12);
    await fc.assert(
      fc.asyncProperty(
        fc.array(caps, { minLength: 1, maxLength: 6 }),
        fc.infiniteStream(fc.nat()),
        async (given, chance) => {
          const coins = given.map((market_cap, index) => ({ id: `coin-${index}`, market_cap }));
          const best = coins.reduce((best, coin) => ((coin.market_cap || -1) > (best.market_cap || -1) ? coin : best));
          const shuffled = coins
            .map((coin) => ({ coin, at: chance.next().value as number }))
            .sort((a, b) => a.at - b.at);
          listed = shuffled.map(({ coin }) => toCoin(coin.id, coin));
          expect(await ask()).to.include({ name: `Coin ${best.id}`, market_cap_usd: best.market_cap || null });
        },
      ),
      { numRuns: 60 },
    );
  });

  it("is not read of a coin with another symbol", async () => {
    listed = [
      toCoin("bigger", { symbol: "dupe", market_cap: 1e12 }),
      toCoin("meant"),
      toCoin("lower", { market_cap: 9 }),
    ];
    expect(await ask()).to.include({ name: "Coin meant" });
  });

  for (const text of ["1e-12", "0.000000000000123456", "5e-324", "1.7976931348623157e308", "97123.456789012345"])
    it(`stays as exact as JSON numbers are: ${text}`, async () => {
      listed = JSON.stringify([toCoin("one", { current_price: 7777 })]).replace("7777", text);
      expect(await ask()).to.include({ usd: Number(text) });
    });

  it("has null for what CoinGecko does not know", async () => {
    listed = [toCoin("one", { market_cap: null, price_change_percentage_24h: null })];
    expect(await ask()).to.include({ usd: 1.5, usd_24h_change_pct: null, market_cap_usd: null });
  });

  for (const current_price of [null, 0])
    it(`is not found when the price is ${current_price}`, async () => {
      listed = [toCoin("one", { current_price })];
      const { status, message } = await problemOf(ask());
      expect([status, message]).to.deep.equal([404, "CoinGecko lists Coin one without a price"]);
    });

  const absurd: Record<string, unknown> = {
    "a negative price": [toCoin("one", { current_price: -0.01 })],
    "a price that is text": [toCoin("one", { current_price: "1.5" })],
    "a price beyond all numbers": JSON.stringify([toCoin("one", { current_price: 7777 })]).replace("7777", "1e999"),
    "a negative market cap": [toCoin("one", { market_cap: -1 })],
    "a change that is text": [toCoin("one", { price_change_percentage_24h: "NaN" })],
    "a coin without a name": [toCoin("one", { name: null })],
    "a coin without a symbol": [toCoin("one", { symbol: 7 })],
    "a list of nothing": [null],
    "no list": { one: toCoin("one") },
    "half a list": '[{"id":"one"',
    null: null,
  };
  for (const [name, answer] of Object.entries(absurd))
    it(`is not believed: ${name}`, async () => {
      listed = answer;
      expect((await problemOf(ask())).code).to.equal("upstream-failed");
    });
});
