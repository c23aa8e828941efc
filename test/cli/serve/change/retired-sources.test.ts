import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { JOB, ROOT, TOSS, writeFiles } from "../../../core/set/served-directory.ts";
import { eventually } from "../../../support/eventually.ts";
import { type OperatedShop, openOperatedShop } from "../../../support/sellers/operator.ts";
import { createBuyer, json, receiptOf, signFor } from "../../../support/sellers/stock-buyer.ts";
import { type LlmServer, openLlmServer, say } from "../../../support/sources/llm-server.ts";

const TOOLS = join(ROOT, "test/support/sources/tool-server.ts");
const SITE = TOSS["manifests/_site.yaml"] as string;
const UPSTREAMS = `upstreams:
  - { id: tools, title: The tools, mcp: stdio, command: [${process.execPath}, ${TOOLS}] }
`;
const toManifest = (id: string, what: string): string => `id: ${id}
title: Work
description: Works elsewhere.
route: POST /v1/${id}
price: "0.01"
tags: [work]
${what}
`;
const ADD = `proxy: { mcp: tools, tool: add }
input: { type: object, properties: { a: { type: number }, b: { type: number } }, required: [a, b] }
output: { type: object, properties: { sum: { type: number } }, required: [sum] }
examples: [{ input: { a: 1, b: 2 } }]`;
const VERDICT = `handler: oracle.judge
charge: first
needs: [LLM_BASE_URL, LLM_MODEL]
llm: { max_tokens: 100, timeout_seconds: 20 }
input: { type: object }
output: Verdict
examples: [{ input: {} }]`;
const TRANSACTION = `0x${"5".repeat(64)}`;
const PAGE = `handler: pages.make
input: { type: object }
output: { type: object, properties: { url: { type: string } }, required: [url] }
examples: [{ input: {} }]`;
const ANCHOR = `handler: notary.note
charge: first
input: { type: object }
output: { type: object, properties: { tx: { type: string } }, required: [tx] }
examples: [{ input: {} }]`;
const REMOVED = {
  "manifests/tool.yaml": toManifest("tool", ADD),
  "manifests/job.yaml": toManifest("job", `${ADD}\n${JOB}`),
  "manifests/anchor.yaml": toManifest("anchor", ANCHOR),
  "manifests/page.yaml": toManifest("page", PAGE),
  "manifests/oracle.yaml": toManifest("oracle", VERDICT),
  "schemas/Verdict.json": `{ "type": "object", "properties": { "is_so": { "type": "boolean" } }, "required": ["is_so"] }`,
  "plugins/pages.ts": `import { definePlugin } from "#plugin";

export default definePlugin("pages", ({ reports }) => ({
  async make() {
    const parts = { results: [], files: [], figures: [], proof: [] };
    return { url: await reports.publishPage({ markdown: "# It is done\\n\\n\`${TRANSACTION}\`", ...parts }) };
  },
}));
`,
  "plugins/notary.ts": `import { definePlugin } from "#plugin";

export default definePlugin("notary", ({ anchor }) => ({
  note: {
    ready: (_, signal) => anchor.ready(signal),
    run: async (_, { signal }) => ({ tx: (await anchor.write("5".repeat(64), signal)).base.tx }),
  },
}));
`,
  "plugins/oracle.ts": `import { definePlugin } from "#plugin";

export default definePlugin("oracle", ({ llm }) => ({
  judge: (_, { signal }) => llm.answer({ service: "oracle", instructions: "Judge.", data: "x", signal }),
}));
`,
};
const INPUT = { a: 1, b: 2 };

describe("what was offered a moment before its service and its sources were removed", function () {
  this.timeout(120_000);
  let llm: LlmServer;
  let shop: OperatedShop;
  const quoted: Record<string, Record<string, string>> = {};

  before(async () => {
    llm = await openLlmServer();
    llm.behave(say({ is_so: true }));
    const env = { LLM_BASE_URL: llm.url, LLM_MODEL: "test", PATH: process.env.PATH ?? "" };
    shop = await openOperatedShop({ ...TOSS, ...REMOVED, "manifests/_site.yaml": SITE + UPSTREAMS }, env);
    const client = await createBuyer(shop.sandbox);
    for (const path of ["/v1/tool", "/v1/job", "/v1/oracle", "/v1/page", "/v1/anchor"]) {
      const challenge = await fetch(shop.running.url + path, { method: "POST" });
      quoted[path] = await signFor(client, challenge);
    }
    for (const file of Object.keys(REMOVED)) await rm(join(shop.dir, file));
    await writeFiles(shop.dir, { "manifests/_site.yaml": SITE });
    await shop.running.changes.apply("test");
  });
  after(async () => {
    await shop?.close();
    await llm?.close();
  });
  const buy = async (path: string): Promise<unknown> => {
    const response = await fetch(shop.running.url + path, json(INPUT, quoted[path]));
    const body: unknown = await response.json();
    expect(response.status, JSON.stringify(body)).to.equal(200);
    expect(receiptOf(response)).to.have.property("success", true);
    return body;
  };

  it("is sold at that offer where a tool of an MCP server does the work", async () => {
    expect(await buy("/v1/tool")).to.deep.equal({ sum: 3 });
  });

  it("is done as the job that was paid for", async () => {
    const { status_url } = (await buy("/v1/job")) as { readonly status_url: string };
    const end = await eventually(
      async () =>
        (await (await fetch(status_url)).json()) as { readonly status: string; readonly deliverable: unknown },
      ({ status }) => status === "DELIVERED" || status === "FAILED",
    );
    expect(end).to.deep.include({ status: "DELIVERED", deliverable: { sum: 3 } });
  });

  it("is a report whose transactions lead to the explorer of the site", async () => {
    const { url } = (await buy("/v1/page")) as { readonly url: string };
    expect(await (await fetch(url)).text()).to.include(`href="https://basescan.org/tx/${TRANSACTION}"`);
  });

  it("is delivered where it was paid first and a language model does the work", async () => {
    expect(await buy("/v1/oracle")).to.deep.equal({ is_so: true });
  });

  it("is anchored, although the rail of that chain was removed meanwhile", async () => {
    await writeFiles(shop.dir, { "manifests/_site.yaml": SITE.replace(/ {2}- id: base\n.*(?= {2}- id: solana)/s, "") });
    await shop.running.changes.apply("test");
    expect(await buy("/v1/anchor"))
      .to.have.property("tx")
      .that.matches(/^0x[0-9a-f]{64}$/);
  });
});
