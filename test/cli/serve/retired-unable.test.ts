import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { edit, JOB, TOSS, writeFiles } from "../../core/set/served-directory.ts";
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

const RATE = {
  ...edit(
    TOSS,
    "manifests/_site.yaml",
    "limits:",
    `upstreams:
  - { id: bank, title: Bank, url: "https://bank.example", key: { variable: BANK_KEY, header: x-key } }
limits:`,
  ),
  "manifests/rate.yaml": `id: rate
title: Rate
description: The rate of a bank.
route: POST /v1/rate
price: "0.01"
proxy: { upstream: bank, request: GET /v1/rate, charge_on: [200] }
input: { type: object }
output: { type: object, properties: { usd: { type: number } } }
tags: [money]
examples: [{ input: {} }]
`,
};

describe("a removed service whose source cannot be asked as the environment says any more", function () {
  this.timeout(120_000);
  let shop: OperatedShop;
  after(() => shop.close());

  it("keeps no shop from its start, and charges nobody", async () => {
    shop = await openOperatedShop(RATE, { BANK_KEY: "s3cret" });
    const { sandbox, dir } = shop;
    const client = await createBuyer(sandbox);
    const payment = await signFor(client, await fetch(`${shop.running.url}/v1/rate`, { method: "POST" }));
    await rm(join(dir, "manifests/rate.yaml"));
    await writeFiles(dir, TOSS);
    await shop.running.changes.apply("test");
    await shop.restart({ BANK_KEY: "none any more" });

    const before = await sandbox.usdc.balanceOf(sandbox.description.buyer.evm.address);
    const response = await fetch(`${shop.running.url}/v1/rate`, json({}, payment));
    expect(response.status, await response.text()).to.equal(503);
    expect(await sandbox.usdc.balanceOf(sandbox.description.buyer.evm.address)).to.equal(before);
  });
});
