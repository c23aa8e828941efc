import { expect } from "chai";
import { createScriptedRail, refuses } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openShop, ROLL, type Shop, type ShopOptions } from "../../support/sellers/shop.ts";

const MALLORY = "0xAbCdEf0000000000000000000000000000000001";
const ALICE = "0xAbCdEf0000000000000000000000000000000002";
const CAROL = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";

describe("a shop's house rules", () => {
  let shop: Shop;
  const open = async (options: ShopOptions): Promise<Shop> => {
    shop = await openShop(options);
    return shop;
  };
  afterEach(() => shop.close());

  const buy = async (
    from: string,
    path = "/v1/roll",
  ): Promise<{ status: number; code?: string; retry?: string | null }> => {
    const response = await shop.post(path, ROLL, { "payment-signature": await shop.pay(path, { from }) });
    const { code } = (await response.json()) as { code?: string };
    return { status: response.status, ...(code && { code }), retry: response.headers.get("retry-after") };
  };
  const untouched = (): void => {
    expect(shop.executions).to.equal(0);
    expect(shop.rail.asked.settle).to.equal(0);
    expect(shop.rail.moved.size).to.equal(0);
  };

  it("sell nothing to a wallet under `deny`, in whatever capitals, and charge it nothing", async () => {
    await open({ rules: { deny: [MALLORY.toLowerCase()] } });
    for (const wallet of [MALLORY, MALLORY.toLowerCase(), `0x${MALLORY.slice(2).toUpperCase()}`])
      expect(await buy(wallet)).to.include({ status: 403, code: "buyer-refused" });
    expect(await buy(MALLORY, "/v1/echo"), "where the money moves first").to.include({ status: 403 });
    untouched();
    expect((await buy(ALICE)).status).to.equal(200);
  });

  it("sell to nobody but the wallets under `allow`", async () => {
    await open({ rules: { allow: [ALICE.toLowerCase()] } });
    expect((await buy(MALLORY)).code).to.equal("buyer-refused");
    untouched();
    expect((await buy(ALICE)).status).to.equal(200);
  });

  it("believe the signature and the facilitator about who pays, and compare Solana's addresses to the letter", async () => {
    const rail = createScriptedRail();
    let payer = CAROL;
    rail.script.verify = () => ({ isValid: true, payer });
    await open({ rail, rules: { deny: [CAROL, MALLORY] } });
    expect((await buy(ALICE)).code, "either name counts").to.equal("buyer-refused");
    payer = CAROL.toLowerCase();
    expect((await buy(MALLORY)).code, "either name counts").to.equal("buyer-refused");
    expect((await buy(ALICE)).status).to.equal(200);
  });

  it("let a wallet fetch what it bought before it was denied", async () => {
    const deny: string[] = [];
    await open({ rules: { deny } });
    const payment = await shop.pay("/v1/roll", { from: MALLORY });
    expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(200);
    deny.push(MALLORY);
    await shop.restart();
    expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(200);
    expect((await buy(MALLORY)).status).to.equal(403);
    expect(shop.executions, "since the restart").to.equal(0);
  });

  /** Buys a roll over MCP; gives the whole answer as text. */
  const buyOverMcp = async (from: string): Promise<string> => {
    const payment = JSON.parse(
      Buffer.from(await shop.pay("/v1/roll", { from, resource: undefined }), "base64").toString(),
    );
    const params = { name: "roll", arguments: ROLL, _meta: { "x402/payment": payment } };
    const headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" };
    return (await shop.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers)).text();
  };

  it("tell an MCP client the same", async () => {
    await open({ rules: { deny: [MALLORY] } });
    expect(await buyOverMcp(MALLORY))
      .to.include("buyer-refused")
      .and.to.include("isError");
    untouched();
  });

  describe("with `screen`", () => {
    const asked: string[] = [];
    let isDown = false;
    /** How many payments are verified before the service answers. */
    let after = 0;
    beforeEach(async () => {
      asked.length = 0;
      isDown = false;
      after = 0;
      await open({
        rules: { screen: { service: "screen", refuse: ["sanctions_match"], cache_hours: 24 } },
        async screen(wallet) {
          if (isDown) throw new Error("the list cannot be read");
          asked.push(wallet);
          await eventually(() => shop.rail.asked.verify >= after);
          return wallet === MALLORY.toLowerCase();
        },
      });
    });

    it("refuse whom the service names, and ask about a wallet once a day", async () => {
      expect((await buy(MALLORY)).code).to.equal("buyer-refused");
      untouched();
      expect((await buy(ALICE)).status).to.equal(200);
      expect((await buy(ALICE.toLowerCase())).status).to.equal(200);
      expect((await buy(MALLORY)).status).to.equal(403);
      expect(asked).to.have.length(2);
      shop.clock.advance(24 * 3_600_000 + 1);
      expect((await buy(ALICE)).status).to.equal(200);
      expect(asked).to.have.length(3);
    });

    it("ask about a wallet once, although its calls arrive at once", async () => {
      after = 5;
      expect(
        (await Promise.all(Array.from({ length: 5 }, () => buy(ALICE)))).map(({ status }) => status),
      ).to.deep.equal(Array(5).fill(200));
      expect(asked).to.deep.equal([ALICE.toLowerCase()]);
    });

    it("sell nothing while the service cannot tell, and do not remember that", async () => {
      isDown = true;
      expect(await buy(ALICE)).to.include({ status: 503, code: "unavailable" });
      untouched();
      isDown = false;
      expect((await buy(ALICE)).status).to.equal(200);
    });
  });

  describe("with `limits.per_payer`", () => {
    it("bound the calls that a wallet begins in a minute, not its repetitions", async () => {
      await open({ limits: { per_payer: { calls_per_minute: 2 } } });
      shop.clock.advance(60_000 - (shop.clock.now() % 60_000)); // The beginning of a minute.
      const payment = await shop.pay("/v1/roll", { from: ALICE });
      for (let time = 0; time < 4; time += 1)
        expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(200);
      expect((await buy(ALICE)).status).to.equal(200);
      const refused = await buy(ALICE.toLowerCase());
      expect(refused).to.include({ status: 429, code: "rate-limited" });
      expect(Number(refused.retry)).to.be.within(1, 60);
      expect(await buyOverMcp(ALICE), "at another door")
        .to.match(/rate-limited/)
        .and.to.include("isError");
      expect(shop.rail.moved.size).to.equal(2);
      expect((await buy(MALLORY)).status, "another wallet").to.equal(200);
      shop.clock.advance(60_000);
      expect((await buy(ALICE)).status).to.equal(200);
    });

    it("bound the dollars of a day to the cent, across restarts, and count only what was charged", async () => {
      await open({ limits: { per_payer: { usd_per_day: "0.002" } } });
      shop.handler = () => {
        throw new Error("out of dice");
      };
      for (let time = 0; time < 3; time += 1) expect((await buy(ALICE)).status).to.equal(500);
      shop.handler = undefined;
      shop.rail.script.settle = refuses();
      expect((await buy(ALICE)).status).to.equal(402);
      delete shop.rail.script.settle;
      expect((await buy(ALICE, "/v1/echo")).status).to.equal(200);
      await shop.restart();
      const both = await Promise.all([buy(ALICE, "/v1/echo"), buy(ALICE, "/v1/echo")]);
      expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 429]);
      expect((await buy(ALICE)).code).to.equal("rate-limited");
      shop.clock.advance(24 * 3_600_000);
      expect((await buy(ALICE, "/v1/echo")).status).to.equal(200);
    });

    it("count what was charged and is not delivered yet", async () => {
      await open({ limits: { per_payer: { usd_per_day: "0.001" } } });
      shop.handler = () => {
        throw new Error("out of dice");
      };
      expect((await buy(ALICE, "/v1/echo")).code).to.equal("paid-not-delivered");
      expect((await buy(ALICE, "/v1/echo")).status).to.equal(429);
    });

    it("count a refused payment that is sent again, and is charged this time", async () => {
      await open({ limits: { per_payer: { usd_per_day: "0.001" } } });
      const [refused, other] = await Promise.all([1, 2].map(() => shop.pay("/v1/roll", { from: ALICE })));
      const send = async (payment = ""): Promise<number> =>
        (await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status;
      shop.rail.script.settle = refuses();
      for (let time = 0; time < 2; time += 1) expect(await send(refused)).to.equal(402);
      expect(await send(other)).to.equal(402);
      delete shop.rail.script.settle;
      expect(await send(refused)).to.equal(200);
      expect(await send(other)).to.equal(429);
      expect(shop.rail.moved.size).to.equal(1);
      expect(await send(refused), "an answer fetched again").to.equal(200);
    });

    it("refuse a refused payment that is sent again once its wallet is denied, or the one that the facilitator names", async () => {
      const deny: string[] = [MALLORY];
      await open({ rules: { deny } });
      shop.rail.script.verify = () => ({ isValid: true, payer: CAROL });
      const payment = await shop.pay("/v1/roll", { from: ALICE });
      const send = async (): Promise<number> =>
        (await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status;
      shop.rail.script.settle = refuses();
      expect(await send()).to.equal(402);
      delete shop.rail.script.settle;
      for (const denied of [ALICE, CAROL]) {
        deny.splice(0, 1, denied);
        await shop.restart();
        expect(await send()).to.equal(403);
      }
      expect(shop.rail.moved.size).to.equal(0);
    });

    it("count what is paid: an offer of before the price was changed counts as it was made", async () => {
      await open({ price: "0.001", limits: { per_payer: { usd_per_day: "0.01" } } });
      const cheap = await Promise.all([1, 2].map(() => shop.pay("/v1/roll", { from: ALICE })));
      await shop.restart({ price: "0.009" });
      for (const payment of cheap)
        expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(200);
      const dear = await Promise.all([1, 2].map(() => shop.pay("/v1/roll", { from: MALLORY })));
      await shop.restart({ price: "0.001" });
      const statuses: number[] = [];
      for (const payment of dear)
        statuses.push((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status);
      expect(statuses).to.deep.equal([200, 429]);
    });

    it("count a tier of another currency as the dollars that it stands for", async () => {
      const rail = createScriptedRail({ currency: "jpy", network: "eip155:137", decimals: 18 });
      await open({ rail, price: "0.002", limits: { per_payer: { usd_per_day: "0.003" } } });
      const early = await Promise.all([1, 2].map(() => shop.pay("/v1/roll", { from: ALICE })));
      await shop.restart({ price: "0.001" });
      const statuses: number[] = [];
      for (const payment of early)
        statuses.push((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status);
      expect(statuses).to.deep.equal([200, 429]);
    });
  });
});
