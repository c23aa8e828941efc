import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { edit, type Files, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { eventually } from "../../support/eventually.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { askRpc, createBuyer, json, signFor, stockFetch } from "../../support/sellers/stock-buyer.ts";
import type { Loose } from "../../surfaces/support/fixture-set.ts";

const world = globalThis as { retiredTestGate?: PromiseWithResolvers<void>; retiredTestFault?: string };

const TOSS_MANIFEST = TOSS["manifests/toss.yaml"] as string;
const LAST: Files = {
  ...TOSS,
  "manifests/stay.yaml": TOSS_MANIFEST.replace("id: toss", "id: stay").replace("/v1/toss", "/v1/stay"),
  "manifests/work.yaml": `id: work
title: Long work
description: Works until it is done.
route: POST /v1/work
price: "0.02"
handler: work.work
input: { type: object }
output: { type: object, properties: { done: { type: boolean } }, required: [done] }
tags: [work]
job:
  status_route: GET /v1/work/{job_id}
  eta_seconds: 10
  deadline_seconds: 60
  attempts: 1
  concurrency: 1
  queue_limit: 10
  refund: false
examples:
  - input: {}
`,
  "plugins/work.ts": `import { definePlugin } from "#plugin";

export default definePlugin("work", () => {
  if (globalThis.retiredTestFault) throw new Error(globalThis.retiredTestFault);
  return {
    async work() {
      await globalThis.retiredTestGate?.promise;
      return { done: true };
    },
  };
});
`,
};
const REMOVED = ["manifests/toss.yaml", "manifests/work.yaml", "plugins/work.ts"];

interface Problem {
  readonly code: string;
  readonly detail: string;
}

describe("a service that is removed", function () {
  this.timeout(120_000);
  let shop: OperatedShop;
  let paid: { readonly payment: typeof quoted; readonly answer: string };
  let quoted: Readonly<Record<string, string>>;
  let statusUrl: string;
  /** What was bought over MCP, and over A2A: a job, and a quote that is not paid yet. */
  let tool: { readonly call: object; readonly result: Loose };
  let job: Loose;
  let waiting: Loose;

  const ID = "the-same-purchase";
  const sign = async (path: string) => signFor(await createBuyer(shop.sandbox), await post(path));
  /** Each time another payment, with the same identifier. */
  const signNamed = async () =>
    signFor(await createBuyer(shop.sandbox), await post("/v1/stay"), (payment) => ({
      ...payment,
      extensions: { "payment-identifier": { info: { required: false, id: ID } } },
    }));
  const post = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(shop.running.url + path, json({}, headers));
  const ask = (path: string, method: string, params: object): Promise<Loose> =>
    askRpc(shop.running.url + path, method, params);
  const send = (message: object): Promise<Loose> =>
    ask("/v1/a2a", "message/send", { message: { messageId: "m", role: "user", parts: [], ...message } });
  const beginTask = (skill: string): Promise<Loose> => send({ parts: [{ data: { skill, input: {} } }] });
  const toPaying = async ({ status }: Loose): Promise<object> => {
    const client = await createBuyer(shop.sandbox);
    const payment = await client.createPaymentPayload(status.message.metadata["x402.payment.required"]);
    return { metadata: { "x402.payment.payload": payment } };
  };
  const callTool = async (): Promise<typeof tool> => {
    const { structuredContent } = await ask("/mcp", "tools/call", { name: "toss" });
    const payment = await (await createBuyer(shop.sandbox)).createPaymentPayload(structuredContent);
    const call = { name: "toss", _meta: { "x402/payment": payment } };
    return { call, result: await ask("/mcp", "tools/call", call) };
  };
  /** Changes a service's id, and nothing else. */
  const renameTo = async (id: string, former: string): Promise<void> => {
    await rm(join(shop.dir, `manifests/${former}.yaml`));
    const manifest = LAST[`manifests/${former}.yaml`] as string;
    await writeFiles(shop.dir, { [`manifests/${id}.yaml`]: manifest.replace(`id: ${former}`, `id: ${id}`) });
    await shop.running.changes.apply("test");
  };
  const problemOf = async (response: Response): Promise<readonly [number, string]> => [
    response.status,
    ((await response.json()) as Problem).code,
  ];

  before(async () => {
    world.retiredTestGate = Promise.withResolvers();
    shop = await openOperatedShop(LAST);
    const payment = await sign("/v1/toss");
    paid = { payment, answer: await (await post("/v1/toss", payment)).text() };
    statusUrl = ((await (await post("/v1/work", await sign("/v1/work"))).json()) as Loose).status_url;
    quoted = await sign("/v1/toss");
    tool = await callTool();
    const task = await beginTask("work");
    job = await send({ taskId: task.id, ...(await toPaying(task)) });
    waiting = await beginTask("toss");

    await Promise.all(REMOVED.map((file) => rm(join(shop.dir, file))));
    await shop.running.changes.apply("test");
  });
  after(async () => {
    delete world.retiredTestGate;
    delete world.retiredTestFault;
    await shop.close();
  });

  it("is offered to nobody: its route answers 410, and no document names it", async () => {
    expect(await problemOf(await post("/v1/toss"))).to.deep.equal([410, "gone"]);
    expect(await problemOf(await post("/v1/work"))).to.deep.equal([410, "gone"]);
    expect((await post("/v1/stay")).status).to.equal(402);
    for (const path of ["/", "/openapi.json", "/llms.txt"])
      expect(await (await fetch(shop.running.url + path)).text(), path)
        .to.include("/v1/stay")
        .and.not.include("/v1/toss")
        .and.not.include("/v1/work");
  });

  it("gives what was bought to whoever repeats the payment", async () => {
    const again = await post("/v1/toss", paid.payment);
    expect([again.status, await again.text()]).to.deep.equal([200, paid.answer]);
    expect(await problemOf(await post("/v1/stay", paid.payment)), "elsewhere").to.deep.equal([409, "payment-conflict"]);
  });

  it("is no tool any more, and gives what was bought as one", async () => {
    expect((await ask("/mcp", "tools/list", {})).tools.map(({ name }: Loose) => name)).to.deep.equal(["stay"]);
    expect(JSON.parse((await ask("/mcp", "tools/call", { name: "toss" })).content[0].text).code).to.equal("gone");
    expect(tool.result).to.have.nested.property("_meta.x402/payment-response");
    expect(await ask("/mcp", "tools/call", tool.call)).to.deep.equal(tool.result);
  });

  it("is no skill any more, and a task that waits for its payment can still be paid for", async () => {
    expect(await beginTask("toss")).to.equal(undefined);
    const paying = await toPaying(waiting);
    const done = await send({ taskId: waiting.id, ...paying });
    expect(done.status.state).to.equal("completed");
    const again = await send({ parts: [{ data: { skill: "toss", input: {} } }], ...paying });
    expect(again.artifacts[0].parts, "in a new task").to.deep.equal(done.artifacts[0].parts);
  });

  it("goes on with the jobs that were paid for, and tells how they stand", async () => {
    const status = async (): Promise<string> =>
      ((await (await fetch(statusUrl)).json()) as { readonly status: string }).status;
    expect(await status()).to.match(/^(IN_PROGRESS|DISPATCHING)$/);
    world.retiredTestGate?.resolve();
    await eventually(async () => (await status()) === "DELIVERED");
    await eventually(async () => (await ask("/v1/a2a", "tasks/get", { id: job.id })).status.state === "completed");
  });

  it("takes a payment for what it offered a moment ago, and no other one", async () => {
    const bought = await post("/v1/toss", quoted);
    expect(bought.status).to.equal(200);
    const other = await signFor(await createBuyer(shop.sandbox), await post("/v1/stay"));
    const refused = await post("/v1/toss", other);
    expect(await problemOf(refused)).to.deep.equal([410, "gone"]);
  });

  it("is remembered by the next process", async () => {
    await shop.restart();
    expect(await problemOf(await post("/v1/toss"))).to.deep.equal([410, "gone"]);
    const again = await post("/v1/toss", paid.payment);
    expect([again.status, await again.text()]).to.deep.equal([200, paid.answer]);
    expect((await fetch(statusUrl)).status).to.equal(200);
  });

  it("is offered again when it is there again", async () => {
    await writeFiles(shop.dir, edit(LAST, "manifests/toss.yaml", "0.01", "0.05"));
    await shop.running.changes.apply("test");
    const challenge = await post("/v1/toss");
    expect([challenge.status, await challenge.text()]).to.satisfy(
      ([status, text]: [number, string]) => status === 402 && text.includes('"amount":"50000"'),
    );
    expect((await post("/v1/work")).status).to.equal(402);
  });

  it("that has moved to another address tells of its jobs at the old one", async () => {
    await writeFiles(shop.dir, edit(LAST, "manifests/work.yaml", "GET /v1/work/{job_id}", "GET /v1/works/{job_id}"));
    await shop.running.changes.apply("test");
    expect(((await (await fetch(statusUrl)).json()) as { status: string }).status).to.equal("DELIVERED");
    const moved = statusUrl.replace("/v1/work/", "/v1/works/");
    expect(((await (await fetch(moved)).json()) as { status: string }).status).to.equal("DELIVERED");
    expect((await post("/v1/work")).status).to.equal(402);
  });

  it("whose route another service has taken still gives what was bought, and is charged no more", async () => {
    await renameTo("flip", "toss");
    expect((await post("/v1/toss")).status).to.equal(402);
    const again = await post("/v1/toss", paid.payment);
    expect([again.status, await again.text()]).to.deep.equal([200, paid.answer]);
    const pay = await stockFetch(shop.sandbox, "base");
    expect((await pay(`${shop.running.url}/v1/toss`, json({}))).status).to.equal(200);
  });

  it("whose id is another one gives the same answer to another payment with the same identifier, which is not charged", async () => {
    const bought = await post("/v1/stay", await signNamed());
    await renameTo("remain", "stay");
    const again = await post("/v1/stay", await signNamed());
    expect([again.status, await again.text()]).to.deep.equal([200, await bought.text()]);
    expect(again.headers.get("payment-response")).to.equal(bought.headers.get("payment-response"));
  });

  it("whose routes another job has taken still tells there how its jobs stand", async () => {
    await renameTo("labor", "work");
    expect((await ask("/mcp", "tools/list", {})).tools.map(({ name }: Loose) => name)).to.include("labor_status");
    expect(await (await fetch(statusUrl)).json()).to.include({ status: "DELIVERED" });
  });

  it("whose plugin cannot be set up any more pays back what waits, also a job of which nothing is paid back when it fails", async () => {
    world.retiredTestGate = Promise.withResolvers();
    const url = ((await (await post("/v1/work", await sign("/v1/work"))).json()) as Loose).status_url;
    const status = async (): Promise<Loose> => (await fetch(url)).json() as Promise<Loose>;
    await eventually(async () => (await status()).status === "IN_PROGRESS");
    for (const file of ["manifests/labor.yaml", "plugins/work.ts"]) await rm(join(shop.dir, file));
    await shop.running.changes.apply("test");
    world.retiredTestFault = "its key is gone";
    await shop.restart();
    await eventually(async () => (await status()).status === "FAILED");
    expect(await status()).to.include({ error: "The service is not offered any more", refund_pending: "manual" });
  });
});
