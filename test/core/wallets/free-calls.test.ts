import { createSIWxClientExtension } from "@x402/extensions/sign-in-with-x";
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from "@x402/fetch";
import { expect } from "chai";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { Problem } from "../../../runtime/api/problem.ts";
import type { PaymentRequired } from "../../../runtime/core/x402/x402.ts";
import { openShop, ROLL, type Shop, type ShopOptions } from "../../support/sellers/shop.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { noteLives } from "../../support/store/note-lives.ts";

const DAY = 24 * 60 * 60_000;
const BODY = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(ROLL) };

describe("free calls", () => {
  let shop: Shop;
  const open = async (options: ShopOptions = {}): Promise<void> => {
    await shop?.close();
    shop = await openShop({ free: { calls: 2, per: "day" }, ...options });
  };
  beforeEach(() => open());
  afterEach(() => shop.close());

  /** The stock client of a new wallet, which signs in and has nothing to pay with; gives the last answer. */
  function newVisitor(account = privateKeyToAccount(generatePrivateKey())): () => Promise<Response> {
    const client = new x402Client().registerExtension(createSIWxClientExtension({ signers: [account] }));
    let last: Response | undefined;
    const keeping: typeof fetch = async (input, init) => {
      last = await fetch(input, init);
      return last.clone();
    };
    const ask = wrapFetchWithPayment(keeping, new x402HTTPClient(client) as never);
    return () => ask(`${shop.url}/v1/roll`, BODY).catch(() => last as Response);
  }
  const errorOf = async (response: Response): Promise<string> => {
    expect(response.status).to.equal(402);
    return ((await response.json()) as PaymentRequired).error;
  };

  it("are given to a wallet that signs in, by the stock client, as many as the manifest says", async () => {
    const visit = newVisitor();
    expect(await (await visit()).json()).to.include({ value: 1 });
    expect((await visit()).status).to.equal(200);
    expect(await errorOf(await visit())).to.match(/^free_calls_used: the 2 free calls of this wallet are used/);
    expect((await newVisitor()()).status, "another wallet").to.equal(200);
    expect(shop.executions).to.equal(3);
    expect(shop.rail.asked).to.include({ verify: 0, settle: 0 });
  });

  it("are there again on the next day", async () => {
    const visit = newVisitor();
    await visit();
    await visit();
    expect((await visit()).status).to.equal(402);
    shop.clock.advance(24 * 60 * 60_000);
    expect((await visit()).status).to.equal(200);
  });

  it("are counted across restarts, and once for each of many calls at the same moment", async () => {
    const visit = newVisitor();
    const answers = await Promise.all(Array.from({ length: 20 }, visit));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(2);
    await shop.restart();
    expect((await visit()).status).to.equal(402);
  });

  it("are bounded for all wallets together", async () => {
    await open({ limits: { free_per_day: 3 } });
    const statuses: number[] = [];
    for (let wallet = 0; wallet < 5; wallet += 1) statuses.push((await newVisitor()()).status);
    expect(statuses).to.deep.equal([200, 200, 200, 402, 402]);
    const visit = newVisitor();
    for (let turn = 0; turn < 7; turn += 1)
      expect(await errorOf(await visit())).to.match(/^free_calls_used: all free calls of this site are used/);
  });

  it("take no room in the store for further wallets, which cost nothing, once all of a day are used", async () => {
    await open({ limits: { free_per_day: 2 } });
    const kept = (): number => [...shop.store.entries.keys()].filter((key) => key.startsWith("free:")).length;
    for (let wallet = 0; wallet < 2; wallet += 1) await newVisitor()();
    const before = kept();
    expect(await errorOf(await newVisitor()())).to.match(/^free_calls_used: all free calls of this site are used/);
    expect(kept()).to.equal(before);
  });

  it("are bounded for all wallets together within a day, and there again on the next", async () => {
    await open({ limits: { free_per_day: 1 } });
    shop.clock.advance(DAY - (shop.clock.now() % DAY));
    expect((await newVisitor()()).status).to.equal(200);
    shop.clock.advance(DAY - 60_000);
    expect((await newVisitor()()).status).to.equal(402);
    shop.clock.advance(60_000);
    expect((await newVisitor()()).status).to.equal(200);
  });

  it("have as many wallets screened in a day as there are of them, and more wallets only where those pay", async () => {
    const screened: string[] = [];
    await open({
      limits: { free_per_day: 3 },
      rules: { screen: { service: "screen", refuse: ["sanctions_match"] } },
      screen(wallet) {
        screened.push(wallet);
        return screened.length === 2; // A wallet that is refused has cost as much.
      },
    });
    shop.clock.advance(DAY - (shop.clock.now() % DAY) - 60_000);
    const first = newVisitor();
    const answers = [await first()];
    for (let wallet = 0; wallet < 5; wallet += 1) answers.push(await newVisitor()());
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 403, 200, 429, 429, 429]);
    expect(screened).to.have.length(3);
    expect([answers[3]?.headers.get("retry-after"), (await first()).status]).to.deep.equal(["60", 200]);
    const customer = privateKeyToAccount(generatePrivateKey());
    const payment = { "payment-signature": await shop.pay("/v1/roll", { from: customer.address }) };
    expect((await shop.post("/v1/roll", ROLL, payment)).status).to.equal(200);
    expect(screened).to.have.length(4);
    shop.clock.advance(60_000);
    for (let wallet = 0; wallet < 3; wallet += 1) expect((await newVisitor()()).status).to.equal(200);
    shop.clock.advance(DAY - 60_000); // Beyond what the screening of the customer is kept for.
    expect((await newVisitor()()).status).to.equal(429);
    expect((await newVisitor(customer)()).status, "who has bought something").to.equal(402);
    expect(screened).to.have.length(8);
  });

  it("have a screening that failed given back, as many in a day as there are of them", async () => {
    let isDown = true;
    await open({
      limits: { free_per_day: 2 },
      rules: { screen: { service: "screen", refuse: ["sanctions_match"] } },
      screen() {
        if (isDown) throw new Problem("upstream-failed");
        return false;
      },
    });
    const statuses: number[] = [];
    const visit = async (): Promise<unknown> => statuses.push((await newVisitor()()).status);
    for (let wallet = 0; wallet < 3; wallet += 1) await visit();
    isDown = false;
    for (let wallet = 0; wallet < 2; wallet += 1) await visit();
    expect(statuses).to.deep.equal([503, 503, 503, 200, 429]);
  });

  it("are counted for an hour more than a day, since clocks differ", async () => {
    const store = createMemoryStore();
    const lives = noteLives(store);
    await open({ store });
    await newVisitor()();
    expect(new Set(lives.get("free"))).to.deep.equal(new Set([DAY + 3_600_000]));
  });

  it("do not count what was refused beside others: one that fails is there again", async () => {
    const visit = newVisitor();
    const [atWork, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    shop.handler = async () => {
      if (shop.executions === 2) atWork.resolve();
      await ends.promise;
      throw new Error("broken");
    };
    const both = [visit(), visit()];
    await atWork.promise;
    expect((await visit()).status).to.equal(402);
    expect((await visit()).status).to.equal(402);
    ends.resolve();
    await Promise.all(both);
    shop.handler = undefined;
    expect([(await visit()).status, (await visit()).status]).to.deep.equal([200, 200]);
  });

  it("tell the work nothing about the wallet's accounts, which only a service with sign_in needs", async () => {
    let accounts: unknown = "unasked";
    shop.handler = (_input, call) => {
      accounts = call.accounts;
      return { value: 1 };
    };
    expect((await newVisitor()()).status).to.equal(200);
    expect(accounts).to.equal(undefined);
  });

  it("do not count when the service fails", async () => {
    const visit = newVisitor();
    shop.handler = () => {
      throw new Error("broken");
    };
    for (let turn = 0; turn < 4; turn += 1) expect((await visit()).status).to.equal(500);
    shop.handler = undefined;
    expect((await visit()).status).to.equal(200);
  });

  it("do not count when the store fails before the call has begun", async () => {
    const visit = newVisitor();
    const { incr } = shop.store;
    for (const counter of [/:begun:/, /:site:/]) {
      shop.store.incr = async (key, ...more) => {
        if (counter.test(key)) throw new Problem("unavailable", "The store is busy");
        return incr(key, ...more);
      };
      expect((await visit()).status).to.equal(503);
    }
    shop.store.incr = incr;
    expect([(await visit()).status, (await visit()).status]).to.deep.equal([200, 200]);
  });

  it("are not a way to have failing work done without end", async () => {
    const visit = newVisitor();
    shop.handler = () => {
      throw new Error("broken");
    };
    for (let turn = 0; turn < 6; turn += 1) expect((await visit()).status).to.equal(500);
    for (let turn = 0; turn < 3; turn += 1)
      expect(await errorOf(await visit())).to.match(/^free_calls_used: too many free calls of this wallet have failed/);
    expect(shop.executions).to.equal(6);
    await open({ limits: { free_per_day: 3 } });
    shop.handler = () => {
      throw new Error("broken");
    };
    const statuses: number[] = [];
    for (let wallet = 0; wallet < 5; wallet += 1) statuses.push((await newVisitor()()).status);
    expect(statuses).to.deep.equal([500, 500, 500, 402, 402]);
  });

  it("are offered in the challenge's header and body, and only where there are any", async () => {
    const declared = async (path: string): Promise<boolean[]> => {
      const response = await fetch(shop.url + path, { method: "POST" });
      const header = JSON.parse(atob(response.headers.get("payment-required")!)) as PaymentRequired;
      const body = (await response.json()) as PaymentRequired;
      return [header, body].map(({ extensions = {} }) => "sign-in-with-x" in extensions);
    };
    expect(await declared("/v1/roll")).to.deep.equal([true, true]);
    expect(await declared("/v1/echo")).to.deep.equal([false, false]);
  });

  it("are refused on MCP in words that speak of the proof, for nothing was paid", async () => {
    const params = { name: "roll", arguments: ROLL, _meta: { "x402/sign-in-with-x": {} } };
    const answer = await shop.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const { result } = (await answer.json()) as { result: { content: { text: string }[] } };
    expect(result.content[0]!.text).to.match(/^The proof was not accepted \(sign_in_refused: .*costs 0\.001 USD/);
  });

  it("leave paying as it was", async () => {
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
    expect(shop.rail.moved.size).to.equal(1);
  });
});
