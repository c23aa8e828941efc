import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { JOB, TOSS } from "../../core/set/served-directory.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { createBuyer, json, signFor } from "../../support/sellers/stock-buyer.ts";

const toManifest = (id: string, more: string): string => `id: ${id}
title: Work
description: Works with a key.
route: POST /v1/${id}
price: "0.01"
handler: work.work
needs: [WORK_KEY]
input: { type: object }
output: { type: object, properties: { done: { type: boolean } }, required: [done] }
tags: [work]
examples: [{ input: {} }]
${more}
`;
const PAID_FIRST = {
  "manifests/first.yaml": toManifest("first", "charge: first"),
  "manifests/job.yaml": toManifest("job", JOB),
};
const PLUGIN = {
  "plugins/work.ts": `import { definePlugin } from "#plugin";

export default definePlugin("work", ({ env }) => {
  if (!env.WORK_KEY) throw new Error("there is no key");
  return { work: () => ({ done: true }) };
});
`,
};

describe("a removed service whose plugin cannot be set up any more", function () {
  this.timeout(120_000);
  let shop: OperatedShop;
  after(() => shop.close());

  it("charges nobody for an earlier offer, also where the money would move before the work", async () => {
    shop = await openOperatedShop({ ...TOSS, ...PAID_FIRST, ...PLUGIN }, { WORK_KEY: "a key" });
    const { sandbox, dir } = shop;
    const client = await createBuyer(sandbox);
    const quoted = async (path: string): Promise<Record<string, string>> =>
      signFor(client, await fetch(shop.running.url + path, { method: "POST" }));
    const payments = { "/v1/first": await quoted("/v1/first"), "/v1/job": await quoted("/v1/job") };
    for (const file of Object.keys({ ...PAID_FIRST, ...PLUGIN })) await rm(join(dir, file));
    await shop.running.changes.apply("test");
    await shop.restart({ WORK_KEY: "" });

    const owned = () => sandbox.usdc.balanceOf(sandbox.description.buyer.evm.address);
    const before = await owned();
    for (const [path, payment] of Object.entries(payments)) {
      const response = await fetch(shop.running.url + path, json({}, payment));
      expect([response.status, ((await response.json()) as { code: string }).code], path).to.deep.equal([
        503,
        "unavailable",
      ]);
    }
    expect(await owned()).to.equal(before);
  });
});
