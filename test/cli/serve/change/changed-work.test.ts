import { expect } from "chai";
import { type Files, TOSS, writeFiles } from "../../../core/set/served-directory.ts";
import { eventually } from "../../../support/eventually.ts";
import { type OperatedShop, openOperatedShop } from "../../../support/sellers/operator.ts";
import { json, type PayingFetch, signFor, stockClient, stockFetch } from "../../../support/sellers/stock-buyer.ts";
import type { Loose } from "../../../surfaces/support/fixture-set.ts";

const world = globalThis as { changedJobGate?: PromiseWithResolvers<void> };

/** A shop that counts, as a job and paid first; its field and its result have these names. */
const toCounter = (field: string, result: string): Files => ({
  ...TOSS,
  "manifests/first.yaml": `id: first
title: Count at once
description: Counts up to a number.
route: POST /v1/first
price: "0.02"
charge: first
handler: count.first
input: { type: object, properties: { ${field}: { type: integer, default: 1 } } }
output: { type: object, properties: { ${result}: { type: integer } }, required: [${result}] }
tags: [work]
examples:
  - input: {}
`,
  "manifests/count.yaml": `id: count
title: Count
description: Counts up to a number.
route: POST /v1/count
price: "0.02"
handler: count.count
input: { type: object, properties: { ${field}: { type: integer, default: 1 }, hold: { type: boolean } } }
output: { type: object, properties: { ${result}: { type: integer } }, required: [${result}] }
tags: [work]
job:
  status_route: GET /v1/count/{job_id}
  eta_seconds: 10
  deadline_seconds: 60
  attempts: 1
  concurrency: 1
  queue_limit: 10
  refund: true
examples:
  - input: {}
`,
  "plugins/count.ts": `import { definePlugin } from "#plugin";

export default definePlugin("count", () => ({
  async count({ ${field}, hold }) {
    if (hold) await globalThis.changedJobGate?.promise;
    return { ${result}: ${field} };
  },
  first({ ${field} }) {
    if ("${field}" === "goal") throw new Error("it cannot count yet");
    return { ${result}: ${field} };
  },
}));
`,
});

describe("paid work whose schemas change", function () {
  this.timeout(120_000);
  let shop: OperatedShop;
  let pay: PayingFetch;
  let delivered: Loose;
  let held: Loose;
  let waiting: Loose;
  let owed: RequestInit;

  const order = async (input: object): Promise<string> =>
    ((await (await pay(`${shop.running.url}/v1/count`, json(input))).json()) as Loose).status_url;
  const read = async (url: string): Promise<Loose> => (await fetch(url)).json() as Promise<Loose>;
  const ended = (url: string): Promise<Loose> =>
    eventually(
      () => read(url),
      ({ status, refund_pending }) => (status === "FAILED" ? refund_pending : status === "DELIVERED"),
    );

  before(async () => {
    world.changedJobGate = Promise.withResolvers();
    shop = await openOperatedShop(toCounter("goal", "sum"));
    pay = await stockFetch(shop.sandbox, "solana");
    const first = await order({ goal: 3 });
    const answer = await ended(first);
    const [second, third] = [await order({ hold: true, goal: 4 }), await order({ goal: 5 })];
    await eventually(async () => (await read(second)).status === "IN_PROGRESS");
    const url = `${shop.running.url}/v1/first`;
    const challenge = await fetch(url, json({ goal: 7 }));
    owed = json({ goal: 7 }, await signFor(await stockClient(shop.sandbox, "solana"), challenge));
    expect((await fetch(url, owed)).status).to.equal(502);
    await writeFiles(shop.dir, toCounter("target", "total"));
    await shop.running.changes.apply("test");
    world.changedJobGate.resolve();
    [delivered, held, waiting] = [{ url: first, answer }, await ended(second), await ended(third)];
  });
  after(async () => {
    delete world.changedJobGate;
    await shop?.close();
  });

  it("that is a job shows what it has delivered as it was", async () => {
    expect(delivered.answer.deliverable).to.deep.equal({ sum: 3 });
    expect(await read(delivered.url)).to.deep.equal(delivered.answer);
  });

  it("that is a job is finished as it was begun", () => {
    expect(held).to.deep.include({ status: "DELIVERED", deliverable: { sum: 4 } });
  });

  it("is paid back, and not done with another input, where it waits and its input would be another one now", () => {
    expect(waiting).to.deep.include({ status: "FAILED", deliverable: null, refund_pending: "manual" });
    expect(waiting.error).to.match(/has changed/);
  });

  it("is paid back, too, where it was paid first and has failed before", async () => {
    // The reconciler may be about it at this moment: 409.
    const answer = await eventually(
      () => fetch(`${shop.running.url}/v1/first`, owed),
      ({ status }) => status !== 409,
    );
    const { code, detail } = (await answer.json()) as Loose;
    expect([answer.status, code]).to.deep.equal([502, "paid-not-delivered"]);
    expect(detail).to.match(/has changed.*paid back by hand/);
  });

  it("is done for whoever orders now", async () => {
    expect(await ended(await order({ target: 6 }))).to.deep.include({ deliverable: { total: 6 } });
  });
});
