import { rm } from "node:fs/promises";
import { join } from "node:path";
import { x402HTTPClient } from "@x402/core/client";
import { expect } from "chai";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { type Running, run } from "../../../runtime/cli/serve/run.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { JOB, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { createFolder } from "../../support/folder.ts";
import { untilRailsUp } from "../../support/sellers/rails-up.ts";
import { createBuyer, json } from "../../support/sellers/stock-buyer.ts";

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
  const data = createFolder();
  let running: Running;
  after(() => running.close());

  it("charges nobody for an earlier offer, also where the money would move before the work", async () => {
    const dir = await makeDirectory({ ...TOSS, ...PAID_FIRST, ...PLUGIN });
    const sandbox = await sharedSandbox();
    const start = async (more: Readonly<Record<string, string>>): Promise<void> => {
      const port = running ? new URL(running.url).port : "0";
      const env = { ...sandbox.env, PAYPHONE_DATA_DIR: data, PORT: port, LOG_LEVEL: "silent", ...more };
      running = await run({ set: await loadSet(dir), config: readConfig(env) });
      await untilRailsUp(running.url);
    };
    await start({ WORK_KEY: "a key" });
    const client = await createBuyer(sandbox);
    const http = new x402HTTPClient(client);
    const quoted = async (path: string): Promise<Record<string, string>> => {
      const challenge = await fetch(running.url + path, { method: "POST" });
      const required = http.getPaymentRequiredResponse((name) => challenge.headers.get(name), await challenge.json());
      return http.encodePaymentSignatureHeader(await client.createPaymentPayload(required));
    };
    const payments = { "/v1/first": await quoted("/v1/first"), "/v1/job": await quoted("/v1/job") };
    for (const file of Object.keys({ ...PAID_FIRST, ...PLUGIN })) await rm(join(dir, file));
    await running.changes.apply("test");
    await running.close();
    await start({});

    const owned = () => sandbox.usdc.balanceOf(sandbox.description.buyer.evm.address);
    const before = await owned();
    for (const [path, payment] of Object.entries(payments)) {
      const headers = { "content-type": "application/json", ...payment };
      const response = await fetch(running.url + path, { ...json({}), headers });
      expect([response.status, ((await response.json()) as { code: string }).code], path).to.deep.equal([
        503,
        "unavailable",
      ]);
    }
    expect(await owned()).to.equal(before);
  });
});
