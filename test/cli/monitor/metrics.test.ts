import { expect } from "chai";
import { edit, TOSS } from "../../core/set/served-directory.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { type Fate, startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json, stockFetch } from "../../support/sellers/stock-buyer.ts";

/** With a job that fails when it is asked for a hundred coins. */
const FILES = edit(
  {
    ...TOSS,
    "manifests/dig.yaml": (TOSS["manifests/toss.yaml"] ?? "")
      .replace("id: toss", "id: dig")
      .replace("/v1/toss", "/v1/dig")
      .concat("job: { status_route: 'GET /v1/dig/{job_id}', eta_seconds: 5, deadline_seconds: 5, attempts: 1, ")
      .concat("concurrency: 2, queue_limit: 9, refund: true }\n"),
  },
  "plugins/toss.ts",
  "toss({ coins }) {",
  'toss({ coins }) {\n    if (coins === 100) throw new Error("too many");',
);
const TREASURY = /^payphone_treasury_native_balance\{network="eip155:137"\} [\d.]+$/m;

describe("/metrics", () => {
  let shop: OperatedShop;
  before(async () => {
    shop = await openOperatedShop(FILES);
  });
  after(() => shop.close());

  const scrape = async (): Promise<string> => (await shop.admin("/metrics")).text();

  it("tells the operator's Prometheus how the shop stands, and nobody else", async () => {
    await fetch(`${shop.running.url}/v1/toss`, { method: "POST" });
    const response = await shop.admin("/metrics");
    expect(response.headers.get("content-type")).to.match(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    expect(text).to.include('payphone_rail_up{rail="base"} 1');
    expect(text, "at once").to.include('payphone_challenges_total{service="toss",door="rest"} 1');
    expect(text).to.include('payphone_refunds_pending{state="manual"} 0');
    await eventually(scrape, (later) => TREASURY.test(later));
    expect(text).to.match(/^nodejs_eventloop_lag_p99_seconds [\d.]+$/m);
    expect((await fetch(`${shop.running.admin.url}/metrics`)).status).to.equal(401);
    expect((await fetch(`${shop.running.url}/metrics`)).status, "where buyers are").to.equal(404);
  });

  it("counts from 0, since Prometheus sees no increase in a series that begins with 1", async () => {
    const text = await scrape();
    for (const state of ["delivered", "failed"])
      expect(text).to.include(`payphone_jobs_ended_total{service="dig",state="${state}"} 0`);
    for (const name of ["payphone_sales_total", "payphone_revenue_usd_total"])
      expect(text).to.include(`${name}{service="toss",rail="base"} 0`);
    expect(text).to.include('payphone_refunds_total{service="dig"} 0');
  });

  it("counts the jobs that are over, by how they ended, and each has a page that tells it", async () => {
    const pay = await stockFetch(shop.sandbox, "base");
    const ids: string[] = [];
    for (const coins of [2, 100]) {
      const accepted = await pay(`${shop.running.url}/v1/dig`, json({ coins }));
      expect(accepted.status).to.equal(200);
      ids.push(((await accepted.json()) as { job_id: string }).job_id);
    }
    await eventually(scrape, (text) => /_ended_total\{service="dig",state="delivered"\} 1$/m.test(text));
    const text = await eventually(scrape, (all) => /_ended_total\{service="dig",state="failed"\} 1$/m.test(all));
    expect(text, "no outcome of a payment").not.to.include('outcome="job:');
    const page = async (): Promise<string> => (await shop.admin("/")).text();
    await eventually(page, (today) => today.includes("<dt>Failed jobs</dt><dd>1"));
    for (const [at, fate] of ["It was delivered", "It has failed"].entries())
      expect(await (await shop.admin(`/jobs/${ids[at]}`)).text())
        .to.include("<h1>Job of dig</h1>")
        .and.include(fate);
    expect((await shop.admin("/jobs/none")).status).to.equal(404);
  });

  it("counts calls, and not how often somebody asks for a job", async () => {
    const pay = await stockFetch(shop.sandbox, "base");
    const accepted = await pay(`${shop.running.url}/v1/dig`, json({ coins: 1 }));
    const { status_url } = (await accepted.json()) as { status_url: string };
    for (const _ of [1, 2]) expect((await fetch(status_url)).status).to.equal(200);
    expect(await scrape())
      .to.match(/_payments_total\{service="dig",.*outcome="result"\}/)
      .and.not.match(/_payments_total\{service="dig_status"/);
  });

  it("does not wait for a chain that keeps silent, nor does the page: both show its balance when it has answered", async () => {
    const sandbox = await sharedSandbox();
    const node = await startRpcProxy(sandbox.env.POLYGON_RPC_URL as string);
    const silence = Promise.withResolvers<Fate>();
    await shop.close();
    shop = await openOperatedShop(TOSS, { POLYGON_RPC_URL: node.url });
    const balances = (): number => node.calls.filter((method) => method === "eth_getBalance").length;
    await eventually(() => balances() > 1); // For the rail, and for the page before anybody looks at it.
    node.intervene((method) => (method === "eth_getBalance" ? silence.promise : "pass"));
    expect(await scrape())
      .to.include("payphone_rail_up")
      .and.not.match(TREASURY);
    expect((await shop.admin("/")).status).to.equal(200);
    expect(balances()).to.be.above(2);
    expect(node.abandoned, "it is still asked").not.to.include("eth_getBalance");
    silence.resolve("pass");
    await eventually(scrape, (text) => TREASURY.test(text));
    await node.stop();
  });
});
