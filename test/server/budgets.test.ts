import { join } from "node:path";
import type { PaymentRequired } from "@x402/fetch";
import { expect } from "chai";
import { toSandboxSources } from "../../runtime/cli/sandbox/sources.ts";
import { loadSet } from "../../runtime/cli/set/load.ts";
import type { Manifest } from "../../runtime/core/set/manifest.ts";
import { openRedisStore } from "../../runtime/drivers/store/redis.ts";
import { createLimits } from "../../runtime/server/request/limits.ts";
import { sharedSandbox, type TestSandbox } from "../support/chains/chains.ts";
import { withRedis } from "../support/programs.ts";
import { type LocalSeller, startLocalSeller } from "../support/sellers/local-seller.ts";
import { buyerFetch, createBuyer, json } from "../support/sellers/stock-buyer.ts";
import { startRedis, type TestRedis } from "../support/store/redis.ts";

const set = await loadSet(join(import.meta.dirname, "../.."));
const sold = set.manifests.filter(({ price }) => price !== undefined);
const pathOf = ({ route }: Manifest): string => route.split(" ")[1] as string;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

describe("the budgets of the project's own site", () => {
  let sandbox: TestSandbox;
  let server: LocalSeller;
  let statuses: number[];
  before(async () => {
    sandbox = await sharedSandbox();
    const own = { env: {}, llm: undefined };
    server = await startLocalSeller({ sandbox, set, sources: toSandboxSources({ set, own, sandbox, online: false }) });
  });
  beforeEach(() => {
    statuses = [];
  });
  after(() => server?.stop());

  const ask: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    statuses.push(response.status);
    return response;
  };
  const read = async (path: string, init?: RequestInit): Promise<string> => (await ask(server.url + path, init)).text();

  it("let a directory crawl everything and then probe each service, all at once", async () => {
    const { paths } = JSON.parse(await read("/openapi.json")) as { paths: Record<string, object> };
    const { links } = JSON.parse(await read("/")) as { links: Record<string, string> };
    const documents = Object.values(links).map((url) => new URL(url).pathname);
    const crawled = [...Object.keys(paths), ...documents, "/favicon.ico", "/robots.txt", "/.well-known/x402.json"];
    const tools = json({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    await Promise.all([
      ...crawled.flatMap((path) => METHODS.map((method) => read(path.replaceAll(/\{\w+\}/g, "x"), { method }))),
      read("/mcp", tools),
    ]);
    await Promise.all(sold.map((manifest) => read(pathOf(manifest), { method: "POST" })));
    expect(statuses.length).to.be.above(154 + sold.length);
    expect(statuses.filter((status) => status === 402).length).to.be.above(2 * sold.length);
    expect(statuses).not.to.include(429);
  });

  it("let a person open the explorer anew for every service and try each within a minute", async () => {
    const pay = await buyerFetch(sandbox, ask);
    for (const manifest of sold) {
      const page = await read("/docs");
      const assets = [...page.matchAll(/(?:src|href)="(\/?[^":?#]+\.(?:js|css|svg|png))"/g)].map(([, path]) => path);
      expect(assets).not.to.be.empty;
      await Promise.all(assets.map((path) => read(new URL(path as string, `${server.url}/docs`).pathname)));
      await read(pathOf(manifest), { method: "POST" }); // The price is shown before the wallet is asked.
      expect((await pay(server.url + pathOf(manifest), json(manifest.examples[0]?.input))).status).to.equal(200);
    }
    expect(statuses).not.to.include(429);
  });

  it("count payments that come in bodies as paying, so that probing never stops them", async () => {
    const buyer = await createBuyer(sandbox);
    const roll = { name: "roll", arguments: { low: 1, high: 6 } };
    const call = async (params: object): Promise<Response> =>
      fetch(`${server.url}/mcp`, json({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
    const { result } = (await (await call(roll)).json()) as { result: { structuredContent: PaymentRequired } };
    const payment = await buyer.createPaymentPayload(result.structuredContent);
    let unpaid = 200;
    for (let sent = 0; sent < 400 && unpaid === 200; sent += 50)
      unpaid = Math.max(...(await Promise.all(Array.from({ length: 50 }, async () => (await call(roll)).status))));
    expect(unpaid).to.equal(429);
    const refused = (await (await call(roll)).json()) as object;
    expect(refused).to.have.keys("jsonrpc", "id", "error");
    const paid = await call({ ...roll, _meta: { "x402/payment": payment } });
    expect(paid.status).to.equal(200);
    expect(await paid.json()).to.have.nested.property("result._meta.x402/payment-response");
  });
});

withRedis.describe("budgets of several processes on one Redis", () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis?.stop());

  const statusesOf = async (url: string, count: number): Promise<number[]> =>
    Promise.all(Array.from({ length: count }, async () => (await fetch(`${url}/v1/roll`, { method: "POST" })).status));

  it("are spent together, and not by documents", async () => {
    const sandbox = await sharedSandbox();
    const limits = { ...set.site.limits, unpaid_burst: 30, unpaid_per_minute: 30 };
    const shop = { sandbox, set: { ...set, site: { ...set.site, limits } }, env: { REDIS_URL: redis.url } };
    const sellers = [await startLocalSeller(shop), await startLocalSeller(shop)] as const;
    try {
      const [one, other] = sellers;
      expect(await statusesOf(one.url, 20)).not.to.include(429);
      const spent = await statusesOf(other.url, 20);
      expect(spent.filter((status) => status === 429)).to.have.length(10);
      expect(await statusesOf(one.url, 3)).to.deep.equal([429, 429, 429]);
      expect((await fetch(`${one.url}/openapi.json`)).status).to.equal(200);
    } finally {
      for (const seller of sellers) await seller.stop();
    }
  });

  it("are counted by each process for itself while Redis is gone", async () => {
    const store = await openRedisStore({ url: redis.url, namespace: "gone" });
    const limits = createLimits({ unpaid_burst: 2, unpaid_per_minute: 2 }, store.createLimiter);
    const codeOf = (): Promise<string> =>
      limits.take("192.0.2.1", "unpaid").then(
        () => "taken",
        ({ code }: { code: string }) => code,
      );
    expect([await codeOf(), await codeOf(), await codeOf()]).to.deep.equal(["taken", "taken", "rate-limited"]);
    await redis.kill();
    expect([await codeOf(), await codeOf(), await codeOf()]).to.deep.equal(["taken", "taken", "rate-limited"]);
    await redis.restart();
    await store.close();
  });
});
