import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { createClient } from "@keyv/redis";
import { expect } from "chai";
import { contractTests, openShop } from "../../../runtime/cli/contract/contract.ts";
import { runTest } from "../../../runtime/cli/contract/run.ts";
import { JOB, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { createFolder } from "../../support/folder.ts";
import { startRedis } from "../../support/store/redis.ts";

describe("a shop under test", () => {
  it("leaves the Redis of the real shop and the jobs there alone, also where a file names it", async () => {
    const redis = await startRedis();
    const client = createClient({ url: redis.url });
    await client.connect();
    const file = join(createFolder(), "redis-url");
    writeFileSync(file, redis.url);
    const shop = await openShop({ dir: await makeDirectory(TOSS), env: { REDIS_URL_FILE: file } });
    const connected = String(await client.sendCommand(["CLIENT", "LIST"])).trim();
    await shop.close();
    client.destroy();
    await redis.stop();
    expect(connected.split("\n")).to.have.length(1); // The test's own.
  });

  it("prints no control characters of what has not come true, which may be a source's", async () => {
    const plugin = TOSS["plugins/toss.ts"]?.replace(/return .*/, 'throw new Error("a\\r\\u202eb\\r\\nc");') ?? "";
    const lines: string[] = [];
    const dir = await makeDirectory({ ...TOSS, "plugins/toss.ts": plugin });
    expect(await runTest({ dir, services: [], print: (line) => lines.push(line) })).to.equal(false);
    expect(lines[0])
      .to.match(/a {2}b\r\n {6}c/)
      .and.not.match(/\r(?!\n)|\u202e/);
  });

  it("has chains also for a service without code that asks a node", async () => {
    const site = `${TOSS["manifests/_site.yaml"]}upstreams:
  - { id: node, title: The node, variable: BASE_RPC_URL, network: "eip155:8453" }
`;
    const manifest = `id: chain_id
title: Chain id
description: Which chain this is.
route: POST /v1/chain-id
price: "0.01"
proxy:
  upstream: node
  request: POST /
  body: { jsonrpc: "2.0", id: 1, method: eth_chainId, params: [] }
input: { type: object, properties: {} }
output: { type: object, properties: { result: { type: string } }, required: [result] }
tags: [chain]
examples:
  - input: {}
    output: { result: "0x2105" }
`;
    const dir = await makeDirectory({ "manifests/_site.yaml": site, "manifests/chain_id.yaml": manifest });
    const shop = await openShop({ dir, env: {} });
    const answer = await shop.call("chain_id", {}).finally(() => shop.close());
    expect(answer).to.deep.equal({ result: "0x2105" });
  });

  it("takes many calls at once, of which Node warns nobody", async () => {
    const shop = await openShop({ dir: await makeDirectory(TOSS), env: {} });
    const warnings: Error[] = [];
    const note = (warning: Error): unknown => warnings.push(warning);
    process.on("warning", note);
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.call("toss", { coins: 2 })));
    await setImmediate();
    process.off("warning", note);
    await shop.close();
    expect([answers.length, warnings]).to.deep.equal([20, []]);
  });

  for (const [what, keys] of [
    ["a job", JOB],
    ["work that is paid first", "charge: first"],
  ] as const)
    it(`keeps the steps of ${what} as the server does: each name once, and its result as JSON`, async () => {
      const plugin = `import { definePlugin } from "#plugin";
export default definePlugin("toss", () => ({
  async toss({ coins }, call) {
    if (coins === 2) await call.step("draw", async () => "heads");
    const sides = await call.step("draw", async () => ({ toJSON: () => ["tails"] }));
    return { sides };
  },
}));`;
      const manifest = `${TOSS["manifests/toss.yaml"]}${keys}\n`;
      const dir = await makeDirectory({ ...TOSS, "manifests/toss.yaml": manifest, "plugins/toss.ts": plugin });
      const shop = await openShop({ dir, env: {} });
      const answer = await shop.call("toss", { coins: 1 });
      const refused = await shop.call("toss", { coins: 2 }).catch((error: unknown) => error);
      await shop.close();
      expect(answer).to.deep.equal({ sides: ["tails"] });
      expect(refused).to.be.an("error").with.property("message", 'two steps have the name "draw"');
    });

  it("has a test that fails with the faults, also where the examples of a manifest are none", async () => {
    const titles: string[] = [];
    const begun: (() => Promise<void>)[] = [];
    const runner = {
      describe: (_: string, body: () => void) => body(),
      it: (title: string) => titles.push(title),
      before: (body: () => Promise<void>) => begun.push(body),
      after: () => undefined,
    };
    const toss = (TOSS["manifests/toss.yaml"] as string).replace(/examples:[\s\S]*/, "");
    for (const examples of ["examples:", "examples: {}", "examples: [2]"]) {
      const dir = await makeDirectory({ ...TOSS, "manifests/toss.yaml": `${toss}${examples}\n` });
      contractTests({ ...runner, dir });
      const failed = await begun
        .at(-1)?.()
        .catch(({ message }: Error) => message);
      expect(failed, examples).to.match(/^manifests\/toss\.yaml:10:.*examples/);
    }
    expect(titles).to.deep.equal(Array(3).fill("fit their schemas"));
  });
});
