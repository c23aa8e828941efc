import { expect } from "chai";
import price from "../../../plugins/price/index.ts";
import { KNOWN_IDS } from "../../../plugins/price/known-coins.ts";
import { offline, type Replay, replay, replayAlways } from "../../support/sources/replay.ts";
import { createProcesses, NOW, type Processes, problemOf } from "../host.ts";

const API = "https://api.coingecko.com/api/v3";
const MARKETS = "plugins/price/recordings/coingecko/coins-markets.json";
const CONTRACTS = "plugins/price/recordings/coingecko/coins-contract.json";
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const UNLISTED = "0x00000000000000000000000000000000000000AA";
const SECONDS = 1000;

describe("a token's price", () => {
  offline();
  let processes: Processes;
  beforeEach(() => {
    processes = createProcesses("price_token", price);
  });
  const start: Processes["start"] = (reach) => processes.start(reach);
  const markets = (...cases: string[]): Replay => replay(API, MARKETS, cases);
  const contracts = (...cases: string[]): Replay => replay(API, CONTRACTS, cases);

  it("is given by contract, with the token's name, and the contract as it was sent", async () => {
    const asked = contracts("success");
    const ask = await start();
    expect(await ask({ chain: "base", contract: USDC })).to.deep.include({
      symbol: "USDC",
      name: "USDC",
      contract: USDC,
      chain: "base",
      usd: 0.999871,
      usd_24h_change_pct: -0.00412,
      market_cap_usd: 77211890412,
    });
    asked.assertDone();
  });

  it("is that of the coin with the highest market cap where several carry the symbol", async () => {
    markets("success:symbol");
    expect(await (await start())({ symbol: " Aero " })).to.deep.include({ symbol: "AERO", name: "Aerodrome Finance" });
  });

  it("costs one request upstream when 300 ask at once", async () => {
    const asked = replayAlways(API, MARKETS, ["success"]);
    const ask = await start();
    const answers = await Promise.all(Array.from({ length: 300 }, () => ask({ symbol: "ETH" })));
    expect(new Set(answers.map(({ usd }) => usd))).to.deep.equal(new Set([2118.354712536191]));
    expect(asked.asked).to.have.length(1);
  });

  it("is shared by spellings of one token, and not by two tokens", async () => {
    const asked = replayAlways(API, CONTRACTS, ["success", "empty"]);
    const ask = await start();
    await ask({ chain: "base", contract: USDC });
    const { contract } = await ask({ chain: "base", contract: USDC.toLowerCase() });
    expect(contract).to.equal(USDC.toLowerCase());
    await problemOf(ask({ chain: "base", contract: UNLISTED }));
    expect(asked.asked.map((one) => one.case)).to.deep.equal(["success", "empty"]);
  });

  it("is shared by processes on one store", async () => {
    const asked = replayAlways(API, MARKETS, ["success"]);
    await (await start())({ symbol: "ETH" });
    processes.now += 5 * SECONDS;
    expect(await (await start())({ symbol: "ETH" })).to.include({ age_seconds: 5, fetched_at: NOW / SECONDS });
    expect(asked.asked).to.have.length(1);
  });

  it("is fetched anew after 60 seconds, and says how old it is until then", async () => {
    const asked = replayAlways(API, MARKETS, ["success"]);
    const ask = await start();
    await ask({ symbol: "ETH" });
    processes.now += 60 * SECONDS - 1;
    expect(await ask({ symbol: "ETH" })).to.include({ age_seconds: 59, fetched_at: NOW / SECONDS });
    expect(asked.asked).to.have.length(1);
    processes.now += 1;
    expect(await ask({ symbol: "ETH" })).to.include({ age_seconds: 0, fetched_at: NOW / SECONDS + 60 });
    expect(asked.asked).to.have.length(2);
  });

  it("is not sold when it is older than 60 seconds and the provider refuses a new one", async () => {
    const ask = await start();
    markets("success:id");
    await ask({ symbol: "ETH" });
    markets("rate-limit:status");
    processes.now += 59 * SECONDS;
    expect(await ask({ symbol: "ETH" })).to.include({ age_seconds: 59 });
    processes.now += 1 * SECONDS;
    const { code, options } = await problemOf(ask({ symbol: "ETH" }));
    expect([code, options.retryAfter]).to.deep.equal(["upstream-failed", 60]);
    processes.now += 1 * SECONDS;
    expect((await problemOf(ask({ symbol: "ETH" }))).options.retryAfter, "nobody is asked meanwhile").to.equal(59);
    processes.now += 59 * SECONDS;
    markets("success:id");
    expect(await ask({ symbol: "ETH" })).to.include({ age_seconds: 0 });
  });

  const failures: Record<string, { file: string; input: object; cases: string[] }> = {
    symbol: {
      file: MARKETS,
      input: { symbol: "ETH" },
      cases: ["error:status", "error:key", "rate-limit:status", "rate-limit:ok", "malformed"],
    },
    contract: {
      file: CONTRACTS,
      input: { chain: "base", contract: USDC },
      cases: ["error", "rate-limit:status", "rate-limit:ok", "malformed"],
    },
  };
  for (const [name, { file, input, cases }] of Object.entries(failures))
    for (const kind of cases)
      it(`is no price, but a failure upstream, where the answer by ${name} is: ${kind}`, async () => {
        replay(API, file, [kind]);
        const { code, message } = await problemOf((await start())(input));
        expect(code).to.equal("upstream-failed");
        expect(message, "none of the provider's own words")
          .to.match(/^CoinGecko [a-z]/)
          .and.not.match(/Rate Limit|Key|</);
      });

  it("is not waited for longer than the provider's time", async () => {
    markets("slow");
    contracts("slow");
    const ask = await start({ timeoutMs: 50 });
    expect((await problemOf(ask({ symbol: "ETH" }))).code).to.equal("upstream-failed");
    expect((await problemOf(ask({ chain: "base", contract: USDC }))).code).to.equal("upstream-failed");
  });

  it("reaches those who still wait when the first who asked has left", async () => {
    const leaving = new AbortController();
    replayAlways(API, MARKETS, ["success"], () => leaving.abort(new Error("gone"))); // Both wait by then.
    const ask = await start();
    const first = ask({ symbol: "ETH" }, { signal: leaving.signal }).catch((error: unknown) => error);
    const second = ask({ symbol: "ETH" });
    expect(await first).to.include({ message: "gone" });
    expect(await second).to.include({ name: "Ethereum" });
  });

  it("is not found, and not asked for again for 60 seconds, where nobody knows the token", async () => {
    const asked = [replayAlways(API, MARKETS, ["empty"]), replayAlways(API, CONTRACTS, ["empty"])];
    const ask = await start();
    for (const round of [1, 1, 2]) {
      if (round === 2) processes.now += 60 * SECONDS;
      const [symbol, contract] = [
        await problemOf(ask({ symbol: "NoSuchCoin" })),
        await problemOf(ask({ chain: "base", contract: UNLISTED })),
      ];
      expect([symbol.code, symbol.message]).to.deep.equal([
        "nothing-found",
        "CoinGecko knows no coin with the symbol NoSuchCoin",
      ]);
      expect([contract.code, contract.message]).to.deep.equal([
        "nothing-found",
        `CoinGecko knows no token at ${UNLISTED} on base`,
      ]);
      for (const { asked: requests } of asked) expect(requests).to.have.length(round);
    }
  });

  it("knows one coin for each of the symbols that everybody knows", () => {
    expect(KNOWN_IDS.size).to.be.at.least(30);
    expect(new Set(KNOWN_IDS.values()).size).to.equal(KNOWN_IDS.size);
    for (const [symbol, id] of KNOWN_IDS) expect(`${symbol} ${id}`).to.match(/^[a-z]+ [a-z0-9-]+$/);
  });
});
