import { join } from "node:path";
import { base58 } from "@scure/base";
import { Keypair } from "@solana/web3.js";
import { expect } from "chai";
import { readConfig } from "../../runtime/cli/config/config.ts";
import { compose } from "../../runtime/cli/serve/compose.ts";
import type { Composition } from "../../runtime/cli/serve/composition.ts";
import { loadSet } from "../../runtime/cli/set/load.ts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import { openSqliteStore } from "../../runtime/drivers/store/sqlite/sqlite.ts";
import { openServer } from "../../runtime/server/listen.ts";
import { type Files, makeDirectory, TOSS } from "../core/set/served-directory.ts";
import { eventually } from "../support/eventually.ts";
import type { Loose } from "../surfaces/mcp/served/support/stall.ts";

const SITE = (TOSS["manifests/_site.yaml"] ?? "").replace(/^rails:[\s\S]*?(?=^\w)/m, "rails: []\n");

/** A set that costs nothing, whose one service is a job with a report. */
const WRITER: Files = {
  "manifests/_site.yaml": SITE,
  "manifests/write.yaml": `id: write
title: Report writer
description: Writes a report.
route: POST /v1/write
handler: writer.write
input: { type: object, properties: { text: { type: string } }, required: [text] }
output: { type: object, properties: { url: { type: string } }, required: [url] }
tags: [text]
examples:
  - input: { text: hello }
job:
  status_route: GET /v1/write/{job_id}
  eta_seconds: 1
  deadline_seconds: 5
  attempts: 2
  concurrency: 1
  queue_limit: 10
  refund: false
`,
  "plugins/writer.ts": `import { definePlugin, Problem } from "#plugin";

const failed = new Set();

export default definePlugin("writer", ({ reports }) => ({
  async write({ text }, call) {
    const file = { name: "report.html", type: "text/html; charset=utf-8", body: "<p>" + text };
    const url = await call.step("publish", () => reports.publish(file));
    if (!failed.has(call.id)) {
      failed.add(call.id);
      throw new Problem("upstream-failed", url, { retryAfter: 1 });
    }
    return { url };
  },
}));
`,
};

describe("a report that a job has published", () => {
  it("is served by the server that runs the job, under the address that the first attempt has given it", async () => {
    const dir = await makeDirectory(WRITER);
    const set = await loadSet(dir);
    expect(set.faults).to.deep.equal([]);
    const server = await openServer({ host: "127.0.0.1", port: 0 });
    const store = await openSqliteStore({ file: join(dir, "data/store.sqlite") });
    const keys = {
      TREASURY_EVM_KEY: `0x${"7a".repeat(32)}`,
      TREASURY_SOLANA_KEY: base58.encode(Keypair.generate().secretKey),
    };
    const config = readConfig({ ...keys, PAYPHONE_DATA_DIR: join(dir, "data") });
    const parts = { set, config, baseUrl: server.url, store, clock: { now: Date.now }, log: silentLog };
    const composition = (await compose(parts)) as Composition;
    expect(composition).to.have.property("listener");
    server.attach(composition.listener);
    await composition.start();
    try {
      const accepted = await fetch(`${server.url}/v1/write`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ text: "hello" }),
      });
      const { status_url } = (await accepted.json()) as Loose;
      const told = await follow(status_url);
      expect(told).to.include({ status: "DELIVERED", error: null });
      const report = await fetch(told.deliverable.url);
      expect([report.status, await report.text()]).to.deep.equal([200, "<p>hello"]);
      const published: string[] = [];
      for await (const key of store.keys("report:")) published.push(key);
      expect(published).to.have.length(1);
    } finally {
      await server.close({ graceMs: 0 });
      await composition.close();
      await store.close();
    }
  });
});

/** Polls until the job has ended. */
const follow = (url: string): Promise<Loose> =>
  eventually(
    async () => (await (await fetch(url)).json()) as Loose,
    ({ status }) => status === "DELIVERED" || status === "FAILED",
    100,
  );
