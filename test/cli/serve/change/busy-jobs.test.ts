import { expect } from "chai";
import { type Files, TOSS, writeFiles } from "../../../core/set/served-directory.ts";
import { eventually } from "../../../support/eventually.ts";
import { type OperatedShop, openOperatedShop } from "../../../support/sellers/operator.ts";
import { json, type PayingFetch, stockFetch } from "../../../support/sellers/stock-buyer.ts";
import type { Loose } from "../../../surfaces/support/fixture-set.ts";

interface Work {
  readonly gate: PromiseWithResolvers<void>;
  running: number;
  most: number;
}
const world = globalThis as { busyJobs?: Work };

const toJob = (id: string, title: string): string => `id: ${id}
title: ${title}
description: Works until it may end.
route: POST /v1/${id}
price: "0.02"
handler: work.${id}
input: { type: object, properties: { name: { type: string, maxLength: 20 } } }
output: { type: object, properties: { done: { type: boolean } }, required: [done] }
tags: [work]
job:
  status_route: GET /v1/${id}/{job_id}
  eta_seconds: 10
  deadline_seconds: 60
  attempts: 1
  concurrency: 1
  queue_limit: 10
  refund: true
examples:
  - input: {}
`;

const toFiles = (title: string): Files => ({
  ...TOSS,
  "manifests/busy.yaml": toJob("busy", title),
  "manifests/quick.yaml": toJob("quick", title),
  "plugins/work.ts": `import { definePlugin } from "#plugin";

export default definePlugin("work", () => ({
  async busy() {
    const work = globalThis.busyJobs;
    work.running += 1;
    work.most = Math.max(work.most, work.running);
    await work.gate.promise;
    work.running -= 1;
    return { done: true };
  },
  quick: () => ({ done: true }),
}));
`,
});

describe("jobs that still run when the set changes", function () {
  this.timeout(120_000);
  let shop: OperatedShop;
  let pay: PayingFetch;

  const order = async (id: string): Promise<string> =>
    ((await (await pay(`${shop.running.url}/v1/${id}`, json({}))).json()) as Loose).status_url;
  const statusOf = async (url: string): Promise<string> => ((await (await fetch(url)).json()) as Loose).status;
  const reaches = (url: string, status: string): Promise<unknown> =>
    eventually(async () => (await statusOf(url)) === status);

  before(async () => {
    world.busyJobs = { gate: Promise.withResolvers(), running: 0, most: 0 };
    shop = await openOperatedShop(toFiles("Work"));
    pay = await stockFetch(shop.sandbox, "solana");
  });
  after(async () => {
    world.busyJobs?.gate.resolve();
    await shop?.close();
    delete world.busyJobs;
  });

  it("count for how many run at once in the process, and no other service waits for them", async () => {
    const [first, second] = [await order("busy"), await order("busy")];
    await reaches(first, "IN_PROGRESS");
    for (const title of ["Work anew", "Work once more"]) {
      await writeFiles(shop.dir, toFiles(title));
      await shop.running.changes.apply("test");
      await reaches(await order("quick"), "DELIVERED"); // By the new set, which has looked through the queue by then.
      await reaches(await order("quick"), "DELIVERED");
    }
    expect([await statusOf(first), await statusOf(second)]).to.deep.equal(["IN_PROGRESS", "DISPATCHING"]);
    world.busyJobs?.gate.resolve();
    await reaches(second, "DELIVERED");
    expect(world.busyJobs?.most).to.equal(1);
  });
});
