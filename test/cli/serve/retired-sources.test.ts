import { rm } from "node:fs/promises";
import { join } from "node:path";
import { x402HTTPClient } from "@x402/core/client";
import { expect } from "chai";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { type Running, run } from "../../../runtime/cli/serve/run.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { makeDirectory, removeDirectories, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { eventually } from "../../support/eventually.ts";
import { untilRailsUp } from "../../support/sellers/rails-up.ts";
import { createDataDir } from "../../support/sellers/seller.ts";
import { createBuyer, json } from "../../support/sellers/stock-buyer.ts";
import { type LlmServer, openLlmServer, say } from "../../support/sources/llm-server.ts";
import { openToolSite, type ToolSite } from "../../support/sources/tool-site.ts";

const JOB = `job:
  status_route: GET /v1/report/{job_id}
  eta_seconds: 10
  deadline_seconds: 60
  attempts: 1
  concurrency: 1
  queue_limit: 10
  refund: false
`;
const toTool = (id: string, more = ""): string => `id: ${id}
title: Sum
description: Adds two numbers.
route: POST /v1/${id}
price: "0.01"
proxy: { mcp: tools, tool: add }
input: { type: object, properties: { a: { type: number } } }
output: { type: object, properties: { sum: { type: number } }, required: [sum] }
tags: [sums]
examples: [{ input: { a: 1 } }]
${more}`;
const SITE = TOSS["manifests/_site.yaml"] as string;
const UPSTREAMS = "upstreams: [{ id: tools, title: Tools, mcp: http, variable: TOOLS_URL }]\n";
const REMOVED = {
  "manifests/sum.yaml": toTool("sum"),
  "manifests/report.yaml": toTool("report", JOB),
  "manifests/verdict.yaml": `id: verdict
title: Verdict
description: Asks a model.
route: POST /v1/verdict
price: "0.01"
charge: first
handler: verdict.verdict
needs: [LLM_BASE_URL]
llm: { timeout_seconds: 5, max_tokens: 100 }
input: { type: object }
output: VerdictResponse
tags: [text]
examples: [{ input: {} }]
`,
  "schemas/VerdictResponse.json": `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": { "word": { "type": "string" } },
  "required": ["word"]
}
`,
  "plugins/verdict.ts": `import { definePlugin } from "#plugin";

export default definePlugin("verdict", ({ llm }) => ({
  verdict: (_, { signal }) => llm.answer({ service: "verdict", instructions: "Judge.", data: "", signal }),
}));
`,
};

describe("a removed service that asks others", function () {
  this.timeout(120_000);
  const data = createDataDir();
  let site: ToolSite;
  let model: LlmServer;
  let running: Running;
  /** What was signed for offers before the services were removed. */
  let quoted: Readonly<Record<"sum" | "report" | "verdict", Readonly<Record<string, string>>>>;

  before(async () => {
    [site, model] = await Promise.all([openToolSite("stateless"), openLlmServer()]);
    site.offer({
      name: "add",
      inputSchema: { type: "object" },
      run: () => ({ content: [], structuredContent: { sum: 3 } }),
    });
    model.behave(say({ word: "guilty" }));
    const sandbox = await sharedSandbox();
    const dir = await makeDirectory({ ...TOSS, ...REMOVED, "manifests/_site.yaml": SITE + UPSTREAMS });
    const own = { PAYPHONE_DATA_DIR: data.path, PORT: "0", LOG_LEVEL: "silent", TOOLS_URL: site.url };
    const env = { ...sandbox.env, ...own, LLM_BASE_URL: model.url, LLM_MODEL: "judge" };
    running = await run({ set: await loadSet(dir), config: readConfig(env) });
    await untilRailsUp(running.url);
    const client = await createBuyer(sandbox);
    const http = new x402HTTPClient(client);
    const sign = async (id: string): Promise<Record<string, string>> => {
      const challenge = await fetch(`${running.url}/v1/${id}`, { method: "POST" });
      const required = http.getPaymentRequiredResponse((name) => challenge.headers.get(name), await challenge.json());
      return http.encodePaymentSignatureHeader(await client.createPaymentPayload(required));
    };
    quoted = { sum: await sign("sum"), report: await sign("report"), verdict: await sign("verdict") };
    for (const file of Object.keys(REMOVED)) await rm(join(dir, file));
    await writeFiles(dir, { "manifests/_site.yaml": SITE });
    await running.changes.apply("test");
  });
  after(async () => {
    await running.close();
    await Promise.all([site.close(), model.close()]);
    data.remove();
    await removeDirectories();
  });
  const post = (id: keyof typeof quoted): Promise<Response> =>
    fetch(`${running.url}/v1/${id}`, { ...json({}), headers: { "content-type": "application/json", ...quoted[id] } });

  it("as a tool of an MCP server, sells what it has offered", async () => {
    const bought = await post("sum");
    expect([bought.status, await bought.json()]).to.deep.equal([200, { sum: 3 }]);
  });

  it("as a job on an MCP server, does what was paid for", async () => {
    const accepted = await post("report");
    expect(accepted.status).to.equal(200);
    const { status_url } = (await accepted.json()) as { readonly status_url: string };
    const ended = await eventually(
      async () => (await (await fetch(status_url)).json()) as { readonly status: string },
      ({ status }) => status === "DELIVERED" || status === "FAILED",
    );
    expect(ended).to.deep.include({ status: "DELIVERED", deliverable: { sum: 3 } });
  });

  it("as a question to a model that is paid first, delivers what was paid for", async () => {
    const bought = await post("verdict");
    expect([bought.status, await bought.json()]).to.deep.equal([200, { word: "guilty" }]);
  });
});
