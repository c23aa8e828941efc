import { expect } from "chai";
import { openServerStore } from "../../../runtime/cli/config/server-store.ts";
import { JOB, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { untilRailsUp } from "../../support/sellers/rails-up.ts";
import { json, stockFetch } from "../../support/sellers/stock-buyer.ts";
import { openSource, type ScriptedSource } from "../../support/sources/scripted-source.ts";
import { openToolSite, type ToolSite } from "../../support/sources/tool-site.ts";

const UPSTREAMS = `upstreams:
  - { id: films, title: The studio, variable: FILMS_URL, retries: 0, breaker: { failures: 1, seconds: 600 } }
  - { id: press, title: The press, variable: FILMS_URL, rate: { per_second: 0.01, burst: 1 } }
  - { id: studio, title: The toolbox, variable: TOOLS_URL, mcp: http }
`;
const toManifest = (id: string, more: string, proxy = "{ upstream: films, request: GET /film }"): string => `id: ${id}
title: Film
description: Makes a film.
route: POST /v1/${id}
price: "0.01"
proxy: ${proxy}
input: { type: object }
output: { type: object, properties: { done: { type: boolean } }, required: [done] }
tags: [film]
examples: [{ input: {} }]
${more}
`;
const REFUSAL = { status: 503, detail: "The studio has failed several times in a row; nothing was charged", wait: 5 };

describe("a proxied service whose API is known to be down", function () {
  this.timeout(120_000);
  let source: ScriptedSource;
  let tools: ToolSite;
  let shop: OperatedShop;
  const owned = (): Promise<bigint> => shop.sandbox.usdc.balanceOf(shop.sandbox.description.buyer.evm.address);
  const buy = async (
    path: string,
  ): Promise<{ readonly status: number; readonly detail?: string; readonly wait?: number }> => {
    const pay = await stockFetch(shop.sandbox, "base");
    const response = await pay(shop.running.url + path, json({}));
    const { detail } = (await response.json()) as { readonly detail?: string };
    const wait = response.headers.get("retry-after");
    return { status: response.status, ...(detail !== undefined && { detail }), ...(wait && { wait: Number(wait) }) };
  };

  before(async () => {
    source = await openSource();
    source.script(500);
    const files = {
      ...TOSS,
      "manifests/_site.yaml": TOSS["manifests/_site.yaml"] + UPSTREAMS,
      "manifests/film.yaml": toManifest("film", ""),
      "manifests/job.yaml": toManifest("job", JOB),
      "manifests/print.yaml": toManifest("print", "charge: first", "{ upstream: press, request: POST /film }"),
      "manifests/tool.yaml": toManifest("tool", "", "{ mcp: studio, tool: film }"),
    };
    tools = await openToolSite("stateless");
    tools.offer({
      name: "film",
      inputSchema: { type: "object" },
      run: () => ({ content: [], structuredContent: { done: true } }),
    });
    shop = await openOperatedShop(files, { FILMS_URL: source.url, TOOLS_URL: tools.url });
    expect((await buy("/v1/film")).status, "the call that finds out").to.equal(502);
  });
  after(async () => {
    await shop?.close();
    await source?.close();
    await tools?.close();
  });

  it("takes no job, which would be charged and fail", async () => {
    const had = await owned();
    expect(await buy("/v1/job")).to.deep.equal(REFUSAL);
    expect(await owned()).to.equal(had);
    const { services } = await untilRailsUp(shop.running.url);
    expect(services.filter(({ state }) => state === "down").map(({ id }) => id)).to.deep.equal(["job"]);
  });

  it("is named in /ready with its API, and so is an MCP server that is not asked", async () => {
    expect((await buy("/v1/tool")).status).to.equal(200);
    tools.intercept((response) => response.writeHead(429, { "retry-after": "600" }).end());
    expect((await buy("/v1/tool")).status).to.equal(503);
    const { status, upstreams } = await untilRailsUp(shop.running.url);
    expect(status).to.equal("degraded");
    expect(upstreams).to.deep.equal([
      { id: "films", state: "down", reason: "The studio has failed several times in a row" },
      { id: "press", state: "up" },
      { id: "studio", state: "down", reason: "The toolbox has asked for a pause" },
    ]);
  });

  it("takes no payment before work whose turn, by the rate of its API, would come too late", async () => {
    source.script('{"done":true}');
    expect((await buy("/v1/print")).status).to.equal(200);
    const had = [await owned(), source.asked.length];
    const { wait, ...refusal } = await buy("/v1/print");
    const detail = "The press is asked as often as it may be, and others are in line; nothing was charged";
    expect(refusal).to.deep.equal({ status: 503, detail });
    expect(wait, "till its turn is near enough").to.be.within(40, 85);
    expect([await owned(), source.asked.length]).to.deep.equal(had);
    source.script(500);
  });

  it("takes none after a change of the set, either, which gives that API no new burst", async () => {
    const print = toManifest("print", "charge: first", "{ upstream: press, request: POST /film }");
    await writeFiles(shop.dir, { "manifests/print.yaml": print.replace("title: Film", "title: Printed film") });
    await shop.running.changes.apply("test");
    const had = [await owned(), source.asked.length];
    expect((await buy("/v1/print")).status).to.equal(503);
    expect([await owned(), source.asked.length]).to.deep.equal(had);
  });

  it("charges nobody who has to pay first", async () => {
    const had = await owned();
    expect((await buy("/v1/film")).status, "others are tried").to.equal(502);
    const store = await openServerStore({ dataDir: shop.dataDir, redisUrl: undefined });
    const { address } = shop.sandbox.description.buyer.evm;
    await store.set(`pays-first:eip155:8453:${address.toLowerCase()}`, 1, 60_000);
    await store.close();
    expect(await buy("/v1/film")).to.deep.equal(REFUSAL);
    expect(await owned()).to.equal(had);
  });
});
