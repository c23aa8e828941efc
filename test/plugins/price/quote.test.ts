import { expect } from "chai";
import fc from "fast-check";
import price from "../../../plugins/price/index.ts";
import { openSource, type ScriptedSource } from "../../support/sources/scripted-source.ts";
import { createHost, problemOf, type Serve, serve } from "../host.ts";

/** A coin in a list of `/coins/markets`, as far as it matters. */
const toCoin = (id: string, facts: object = {}): object => ({
  id,
  symbol: "dup",
  name: `Coin ${id}`,
  current_price: 1.5,
  market_cap: 10,
  price_change_percentage_24h: 0,
  ...facts,
});

describe("what CoinGecko says of a price", () => {
  let source: ScriptedSource;
  /** By a host of its own, so that nothing is answered from memory. */
  let ask: (input?: object) => ReturnType<Serve>;
  beforeEach(async () => {
    source = await openSource();
    const reach = { urls: { coingecko: source.url }, retries: 0 };
    ask = async (input = { symbol: "DUP" }) => (await serve("price_token", price, createHost({}, reach)))(input);
  });
  afterEach(() => source.close());
  const answers = (answer: unknown): void =>
    source.script(typeof answer === "string" ? answer : JSON.stringify(answer));
  const asked = (): URL[] => source.asked.map(({ path }) => new URL(path, source.url));

  it("is asked for with every coin of the symbol, and all digits", async () => {
    answers([toCoin("one")]);
    await ask();
    expect(asked().map(({ pathname }) => pathname)).to.deep.equal(["/coins/markets"]);
    const wanted = { vs_currency: "usd", precision: "full", symbols: "dup", include_tokens: "all", per_page: "250" };
    expect(Object.fromEntries((asked()[0] as URL).searchParams)).to.deep.equal(wanted);
  });

  it("is read of the same coin, in whatever order the coins are listed", async () => {
    const caps = fc.constantFrom(10, 10.5, 2e12);
    await fc.assert(
      fc.asyncProperty(
        fc
          .array(fc.oneof(caps, fc.constantFrom(null, 0)), { maxLength: 5 })
          .chain((some) => caps.map((cap) => [...some, cap])),
        fc.infiniteStream(fc.nat()),
        async (given, chance) => {
          const coins = given.map((market_cap, index) => ({ id: `coin-${index}`, market_cap }));
          const best = coins.reduce((best, coin) => ((coin.market_cap || -1) > (best.market_cap || -1) ? coin : best));
          const shuffled = coins
            .map((coin) => ({ coin, at: chance.next().value as number }))
            .sort((a, b) => a.at - b.at);
          answers(shuffled.map(({ coin }) => toCoin(coin.id, coin)));
          const { assumptions, ...answer } = await ask();
          expect(answer).to.include({ name: `Coin ${best.id}`, market_cap_usd: best.market_cap });
          const several = `${coins.length} coins have the symbol DUP: the one with the highest market cap is taken`;
          expect(assumptions).to.deep.equal(coins.length > 1 ? [several] : undefined);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("is not chosen where several coins have the symbol and none a market cap", async () => {
    answers([toCoin("one", { market_cap: null }), toCoin("two", { market_cap: 0 })]);
    const { code, message } = await problemOf(ask());
    expect(code).to.equal("nothing-found");
    expect(message).to.equal("2 coins have the symbol DUP, and nothing tells them apart: give a contract");
    answers([toCoin("one", { market_cap: null })]);
    expect(await ask()).to.include({ name: "Coin one", market_cap_usd: null });
  });

  it("is old where a cache on the way has kept it for hours, whatever date the answer has", async () => {
    const last_updated = new Date(Date.now() - 60_000).toISOString();
    const kept = (age: string): void =>
      source.script({ headers: { age }, body: JSON.stringify([toCoin("one", { last_updated })]) });
    kept("7200");
    expect((await ask()).assumptions).to.deep.equal([
      `CoinGecko has not updated this price since ${last_updated}: it is taken to hold`,
    ]);
    for (const age of ["20", "soon"]) {
      kept(age);
      expect(await ask(), age).not.to.have.property("assumptions");
    }
  });

  it("is not read of a coin with another symbol", async () => {
    answers([
      toCoin("bigger", { symbol: "dupe", market_cap: 1e12 }),
      toCoin("meant"),
      toCoin("lower", { market_cap: 9 }),
    ]);
    expect(await ask()).to.include({ name: "Coin meant" });
  });

  it("is read of the one coin that a well-known symbol means", async () => {
    answers([toCoin("bitcoin-2", { symbol: "btc", market_cap: 1e15 }), toCoin("bitcoin", { symbol: "btc" })]);
    expect(await ask({ symbol: "BTC" })).to.include({ name: "Coin bitcoin" });
    expect(asked()[0]?.searchParams.get("ids")).to.equal("bitcoin");
  });

  it("is searched for where CoinGecko has dropped the id of a well-known symbol", async () => {
    source.script("[]", JSON.stringify([toCoin("bitcoin-new", { symbol: "btc" })]));
    expect(await ask({ symbol: "BTC" })).to.include({ name: "Coin bitcoin-new" });
    expect(asked().map(({ searchParams }) => searchParams.get("ids") ?? searchParams.get("symbols"))).to.deep.equal([
      "bitcoin",
      "btc",
    ]);
  });

  it("is read by contract for a token that the service is paid in, and searched for where the contract is unlisted", async () => {
    const jpyc = { symbol: "jpyc", name: "JPYC", market_data: { current_price: { usd: 0.0067 } } };
    answers(jpyc);
    expect(await ask({ symbol: "JPYC" })).to.deep.include({ name: "JPYC", usd: 0.0067, contract: null, chain: null });
    expect(asked()[0]?.pathname).to.equal("/coins/polygon-pos/contract/0xe7c3d8c9a439fede00d2600032d5db0be71c3c29");
    source.script({ status: 404, body: "{}" }, JSON.stringify([toCoin("jpyc-new", { symbol: "jpyc" })]));
    const found = await ask({ symbol: "JPYC" });
    expect(found).to.deep.include({
      name: "Coin jpyc-new",
      assumptions: [
        "CoinGecko lists 0xe7c3d8c9a439fede00d2600032d5db0be71c3c29 no more: the coin was found by its symbol",
      ],
    });
  });

  const onPolygon = { symbol: "dup", name: "Found", market_data: { current_price: { usd: 3 } } };

  it("is that of the coin on a chain, with its contract there", async () => {
    source.script(
      JSON.stringify([toCoin("big", { market_cap: 1e9 }), toCoin("small", { market_cap: 1 })]),
      JSON.stringify({ ...onPolygon, name: "Elsewhere", platforms: { base: `0x${"1".repeat(40)}` } }),
      JSON.stringify({ ...onPolygon, platforms: { "polygon-pos": `0x${"2".repeat(40)}` } }),
    );
    expect(await ask({ symbol: "dup", chain: "polygon" })).to.deep.include({
      name: "Found",
      usd: 3,
      chain: "polygon",
      contract: `0x${"2".repeat(40)}`,
      assumptions: ["2 coins have the symbol DUP: of those on polygon, the one with the highest market cap is taken"],
    });
    expect(asked().map(({ pathname }) => pathname)).to.deep.equal(["/coins/markets", "/coins/big", "/coins/small"]);
  });

  it("is that of a chain's own coin, which has no contract", async () => {
    answers({ symbol: "eth", name: "Ethereum", platforms: { "": "" }, market_data: { current_price: { usd: 2 } } });
    expect(await ask({ symbol: "ETH", chain: "base" })).to.deep.include({ name: "Ethereum", contract: null });
    expect(asked()[0]?.pathname).to.equal("/coins/ethereum");
  });

  it("is not found for a coin that is not on the chain", async () => {
    source.script(
      JSON.stringify({ ...onPolygon, name: "Bitcoin", platforms: { "": "" } }),
      JSON.stringify([toCoin("bitcoin", { symbol: "btc" })]),
    );
    const { code, status, message } = await problemOf(ask({ symbol: "BTC", chain: "base" }));
    expect([code, status, message]).to.deep.equal([
      "nothing-found",
      404,
      "CoinGecko knows no coin with the symbol BTC on base",
    ]);
  });

  it("is not said to be unknown on a chain where more coins have the symbol than are looked at", async () => {
    const elsewhere = JSON.stringify({ ...onPolygon, platforms: { base: `0x${"1".repeat(40)}` } });
    const list = (length: number): string =>
      JSON.stringify(Array.from({ length }, (_, at) => toCoin(`coin-${at}`, { market_cap: 9 - at })));
    const fail = async (coins: number): Promise<string> => {
      source.script(list(coins), elsewhere, elsewhere, elsewhere);
      return (await problemOf(ask({ symbol: "dup", chain: "polygon" }))).message;
    };
    expect(await fail(3)).to.equal("CoinGecko knows no coin with the symbol dup on polygon");
    expect(await fail(4)).to.equal("4 coins have the symbol DUP, and the largest are not on polygon: give a contract");
  });

  const platforms = {
    base: "base",
    ethereum: "ethereum",
    polygon: "polygon-pos",
    arbitrum: "arbitrum-one",
    optimism: "optimistic-ethereum",
    bsc: "binance-smart-chain",
    avalanche: "avalanche",
  };
  it("is asked for by CoinGecko's names of the chains, and by a contract in lower case", async () => {
    answers({ symbol: "t", name: "T", market_data: { current_price: { usd: 2 }, market_cap: {} } });
    const contract = `0x${"Ab".repeat(20)}`;
    for (const chain of Object.keys(platforms)) expect(await ask({ chain, contract })).to.include({ usd: 2, chain });
    expect(asked().map(({ pathname }) => pathname)).to.deep.equal(
      Object.values(platforms).map((platform) => `/coins/${platform}/contract/${contract.toLowerCase()}`),
    );
  });

  it("is asked for by a mint on Solana as it is spelled: its capitals mean something", async () => {
    answers({ symbol: "t", name: "T", market_data: { current_price: { usd: 2 } } });
    const contract = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    expect(await ask({ chain: "solana", contract })).to.deep.include({ contract, market_cap_usd: null });
    expect(asked()[0]?.pathname).to.equal(`/coins/solana/contract/${contract}`);
  });

  it("is not found for a contract that is listed without a market", async () => {
    answers({ symbol: "t", name: "T" });
    const { status, message } = await problemOf(ask({ chain: "base", contract: `0x${"ab".repeat(20)}` }));
    expect([status, message]).to.deep.equal([404, "CoinGecko lists T without a price"]);
  });

  it("is not believed when CoinGecko refuses, whatever else it says", async () => {
    source.script({ status: 403, body: JSON.stringify([toCoin("one")]) });
    expect((await problemOf(ask())).message).to.equal("CoinGecko answered with 403");
  });

  for (const text of ["1e-12", "0.000000000000123456", "5e-324", "1.7976931348623157e308", "97123.456789012345"])
    it(`stays as exact as JSON numbers are: ${text}`, async () => {
      answers(JSON.stringify([toCoin("one", { current_price: 7777 })]).replace("7777", text));
      expect(await ask()).to.include({ usd: Number(text) });
    });

  it("has null for what CoinGecko does not know", async () => {
    answers([toCoin("one", { market_cap: null, price_change_percentage_24h: null })]);
    expect(await ask()).to.include({ usd: 1.5, usd_24h_change_pct: null, market_cap_usd: null });
  });

  for (const current_price of [null, 0])
    it(`is not found when the price is ${current_price}`, async () => {
      answers([toCoin("one", { current_price })]);
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
      answers(answer);
      expect((await problemOf(ask())).code).to.equal("upstream-failed");
    });
});
