import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { loadConfig } from "../../../runtime/cli/config/config.ts";
import { openWebhooks } from "../../../runtime/cli/monitor/webhooks.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { listWebhooks, resendWebhooks } from "../../../runtime/cli/webhooks/webhooks.ts";
import { createDeliveries } from "../../../runtime/core/webhooks/deliveries.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { edit, makeDirectory, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { createLogBook } from "../../support/http.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json, receiptOf, stockFetch } from "../../support/sellers/stock-buyer.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const SECRET = `whsec_${Buffer.alloc(24, "s").toString("base64")}`;
const SHOP = edit(
  TOSS,
  "manifests/_site.yaml",
  "limits:",
  "webhooks:\n  - { id: accounts, variable: HOOK_URL, secret: HOOK_SECRET, events: [sale, refund] }\nlimits:",
);

interface Told {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describe("a shop with webhooks", () => {
  let shop: OperatedShop;
  let server: Server;
  const told: Told[] = [];
  before(async () => {
    server = createServer(async (request, response) => {
      const body = await text(request);
      told.push(new Webhook(SECRET).verify(body, request.headers as Record<string, string>) as Told);
      response.end();
    });
    const { port } = new URL(await listenOnLoopback(server));
    shop = await openOperatedShop(SHOP, { HOOK_URL: `http://127.0.0.1:${port}/hook`, HOOK_SECRET: SECRET });
  });
  after(async () => {
    await shop.close();
    await closeServer(server);
  });

  it("tells its books of a sale, and again when the seller asks for it", async () => {
    const begun = Date.now();
    const pay = await stockFetch(shop.sandbox, "base");
    const response = await pay(`${shop.running.url}/v1/toss`, json({}));
    expect(response.status).to.equal(200);
    const { transaction } = receiptOf(response);
    await eventually(() => told.length === 1);
    expect(told[0]?.type).to.equal("sale");
    expect(told[0]?.data).to.include({ service: "toss", rail: "base", usd: "0.01", amount: "10000", transaction });
    const { site } = await loadSet(await makeDirectory(SHOP));
    const config = { dataDir: shop.dataDir, redisUrl: undefined };
    expect(await listWebhooks(config, site)).to.deep.equal([]);
    expect(await resendWebhooks(config, site, { ids: [transaction], givenUp: false })).to.equal(1);
    await eventually(() => told.length === 2);
    expect(told[1]?.data.id, "the same, so that it counts once").to.equal(told[0]?.data.id);
    expect(await resendWebhooks(config, site, { ids: [], givenUp: false, from: begun })).to.equal(1);
    const webhooks = site.webhooks?.map(({ events: _, ...takesAll }) => takesAll) ?? [];
    expect(await resendWebhooks(config, { ...site, webhooks }, { ids: [transaction] })).to.equal(1);
  });

  it("sends a waiting message at once, whether the book has it or not", async () => {
    const store = await openStore({ dataDir: shop.dataDir });
    const event = { id: "job.failed_7", type: "job.failed", at: Date.now(), data: { job_id: "7" } } as const;
    const later = Date.now() + 4 * 3_600_000;
    await createDeliveries(store).add({ endpoint: "accounts", event, since: later, failures: 8, notBefore: later });
    await store.close();
    const { site } = await loadSet(await makeDirectory(SHOP));
    const config = { dataDir: shop.dataDir, redisUrl: undefined };
    const next = new Date(later).toISOString();
    const row = {
      state: "waiting",
      endpoint: "accounts",
      id: event.id,
      type: event.type,
      failures: 8,
      reason: null,
      next,
    };
    expect(await listWebhooks(config, site)).to.deep.include(row);
    expect(await resendWebhooks(config, site, { ids: [event.id], givenUp: false })).to.equal(1);
    await eventually(
      () => told.some(({ data }) => data.job_id === "7"),
      (found) => found,
      200,
    );
    const unknown = await resendWebhooks(config, site, { ids: ["nothing"], givenUp: false }).catch((error) => error);
    expect(unknown).to.have.property("code", "not-found");
  });

  it("keeps what was given up for a receiver that the site no longer has", async () => {
    const store = await openStore({ dataDir: shop.dataDir });
    const event = { id: "job.failed_8", type: "job.failed", at: Date.now(), data: { job_id: "8" } } as const;
    await createDeliveries(store).giveUp("former:job.failed_8", {
      endpoint: "former",
      event,
      since: 0,
      failures: 14,
      notBefore: 0,
    });
    await store.close();
    const { site } = await loadSet(await makeDirectory(SHOP));
    const config = { dataDir: shop.dataDir, redisUrl: undefined };
    expect(await resendWebhooks(config, site, { ids: [], givenUp: true })).to.equal(0);
    expect(await listWebhooks(config, site)).to.have.deep.nested.property("[0].id", event.id);
  });

  it("shows its seller that a message was given up, and sends it again when the seller asks for it", async () => {
    const store = await openStore({ dataDir: shop.dataDir });
    const event = { id: "sale_9", type: "sale", at: Date.now(), data: { of: "sale_9" } } as const;
    const delivery = { endpoint: "accounts", event, since: 0, failures: 14, notBefore: 0 };
    await createDeliveries(store).giveUp("accounts:sale_9", delivery);
    await store.close();
    expect(await (await shop.admin("/")).text()).to.include("1 message to a receiver was given up after a day");
    const { site } = await loadSet(await makeDirectory(SHOP));
    const config = { dataDir: shop.dataDir, redisUrl: undefined };
    expect(await resendWebhooks(config, site, { ids: [], givenUp: true })).to.equal(1);
    await eventually(() => told.some(({ data }) => data.of === "sale_9"));
    expect((await listWebhooks(config, site)).map(({ id }) => id)).to.deep.equal(["job.failed_8"]);
  });

  it("is told which lines by the same days and times as the book's other commands, whatever the time zone", async () => {
    const resend = (...span: string[]) =>
      runPayphone(["webhooks", "resend", ...span], { PAYPHONE_DATA_DIR: shop.dataDir, TZ: "Asia/Tokyo" });
    for (const from of ["2026-09-01T12:00", "2026-02-30", "5"])
      expect((await resend("--from", from)).err, from).to.include("It must be a day (2026-05-01) or a time");
    const turned = await resend("--from", "2026-09-02", "--to", "2026-09-01");
    expect(turned.err).to.include("--from must be before --to");
    expect((await resend("--given-up", "--to", "2026-09-01")).err).to.include("--to ends what --from begins");
  });

  it("makes no store where there is none, which would look as if every message was accepted", async () => {
    const { site } = await loadSet(await makeDirectory(SHOP));
    const config = { dataDir: join(shop.dataDir, "nowhere"), redisUrl: undefined };
    for (const ask of [
      () => listWebhooks(config, site),
      () => resendWebhooks(config, site, { ids: [], givenUp: true }),
    ])
      expect(await ask().catch((error: unknown) => error))
        .to.be.an("error")
        .with.property("code", "bad-request");
    expect(existsSync(config.dataDir)).to.equal(false);
  });

  it("counts the sale for Prometheus, too", async () => {
    const text = await (await shop.admin("/metrics")).text();
    expect(text).to.include('payphone_revenue_usd_total{service="toss",rail="base"} 0.01');
    expect(text).to.match(/payphone_payments_total\{service="toss",door="rest",rail="base",outcome="result"\} 1/);
    expect(text).to.match(/payphone_challenges_total\{service="toss",door="rest"\} 1/);
    expect(text).to.match(/payphone_call_seconds_count\{service="toss",door="rest"\} 1/);
    expect(text).to.match(/payphone_settlement_seconds_count\{rail="base"\} 1/);
  });
});

describe("a shop whose webhooks are changed while a call of the former set runs", () => {
  const world = globalThis as { webhooksTestGate?: PromiseWithResolvers<void> };
  let shop: OperatedShop;
  let server: Server;
  let held: Promise<Response>;
  const paths: string[] = [];
  const toShop = (url: string) =>
    edit(
      edit(
        TOSS,
        "plugins/toss.ts",
        "toss({ coins }) {",
        "async toss({ coins }) {\n    if (coins === 9) await globalThis.webhooksTestGate.promise;",
      ),
      "manifests/_site.yaml",
      "limits:",
      `webhooks: [{ id: accounts, url: "${url}", secret: HOOK_SECRET }]\nlimits:`,
    );
  const buy = async (coins: number): Promise<Response> =>
    (await stockFetch(shop.sandbox, "base"))(`${shop.running.url}/v1/toss`, json({ coins }));
  after(async () => {
    world.webhooksTestGate?.resolve();
    await held;
    delete world.webhooksTestGate;
    await shop.close();
    await closeServer(server);
  });

  it("tells what is sold from then on to the receivers of the set that is sold", async () => {
    world.webhooksTestGate = Promise.withResolvers();
    server = createServer((request, response) => {
      paths.push(request.url ?? "");
      response.end();
    });
    const url = await listenOnLoopback(server);
    shop = await openOperatedShop(toShop(`${url}/former`), { HOOK_SECRET: SECRET });
    held = buy(9);
    expect((await buy(1)).status).to.equal(200);
    await eventually(() => paths.length === 1);
    await writeFiles(shop.dir, toShop(`${url}/new`));
    await shop.running.changes.apply("test");
    for (const sold of [2, 3, 4]) {
      expect((await buy(1)).status).to.equal(200);
      await eventually(() => paths.length === sold);
    }
    expect(shop.running.swap.retiring()).to.equal(1);
    expect(paths).to.deep.equal(["/former", "/new", "/new", "/new"]);
  });
});

describe("a sandbox with webhooks, beside the variables of the real shop", () => {
  it("tells receivers on this machine alone: elsewhere, play money would be taken for sales", async () => {
    const posted: string[] = [];
    const server = createServer((request, response) => {
      posted.push(request.headers.host ?? "");
      response.end();
    });
    const { port } = new URL(await listenOnLoopback(server));
    const { lines, ...log } = createLogBook();
    const { site } = await loadSet(await makeDirectory(SHOP));
    const webhooks = [
      { id: "accounts", variable: "HOOK_URL", secret: "HOOK_SECRET" },
      { id: "mine", url: `http://localhost:${port}/hook`, secret: "HOOK_SECRET" },
    ];
    const config = { ...loadConfig(), env: { HOOK_URL: "https://accounts.example.com/hook", HOOK_SECRET: SECRET } };
    const store = createMemoryStore();
    const openBooks = () => Promise.reject(new Error("unread"));
    const statuses = { railStatuses: () => new Map(), distrusted: () => [] };
    const opened = { config, openBooks, ...statuses, isSandbox: true, store, clock: { now: Date.now }, log };
    const told = openWebhooks({ site: { ...site, webhooks }, ...opened });
    await told.jobFailed({ id: "7", service: "toss", error: "It fell", at: Date.now() });
    told.start();
    await eventually(() => posted.length > 0);
    await told.close();
    const waiting: string[] = [];
    for await (const key of store.keys("webhook:")) waiting.push(key);
    await closeServer(server);
    expect(waiting.filter((key) => key.includes("accounts"))).to.deep.equal([]);
    expect(posted).to.deep.equal([`localhost:${port}`]);
    expect(lines.find(({ event }) => event === "webhook.not-told")).to.deep.include({ webhooks: ["accounts"] });
  });
});
