import { expect } from "chai";
import { recordMissing } from "../../../runtime/cli/contract/missing.ts";
import { runMcpImport } from "../../../runtime/cli/import/import-mcp.ts";
import { recordNew } from "../../../runtime/cli/record/new.ts";
import { runRecord } from "../../../runtime/cli/record/record.ts";
import { openProxyShop } from "../../support/sellers/proxy-shop.ts";
import { openToolSite, type SiteTool } from "../../support/sources/tool-site.ts";
import { openShop } from "../import/shop.ts";

const toTool = (name: string, annotations: object, run: SiteTool["run"]): SiteTool => ({
  name,
  description: `The tool ${name}.`,
  annotations,
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" } },
    required: ["a"],
    examples: [{ a: 1 }],
  } as never,
  run,
});
const toText = (text: string): Awaited<ReturnType<SiteTool["run"]>> => ({ content: [{ type: "text", text }] });
const READS = { readOnlyHint: true, destructiveHint: false };

describe("recordings of an MCP server over HTTP", () => {
  it("are made of tools that only read when they are imported, of others on demand, and sold by the sandbox", async () => {
    const site = await openToolSite("stateless");
    const dir = await openShop();
    const run: string[] = [];
    const tool = (name: string, annotations: object): SiteTool =>
      toTool(name, annotations, ({ a }) => {
        run.push(name);
        return toText(`${name} ${a}`);
      });
    site.offer(
      tool("look", READS),
      tool("write", { destructiveHint: false }),
      tool("destroy", { destructiveHint: true }),
      toTool("fail", READS, () => ({ isError: true, ...toText("no moon") })),
    );
    const command = { server: [site.url], dir, tools: [], all: true, upstream: "site", variables: [], env: {} };
    try {
      const { report, isPartial } = await runMcpImport({ ...command, isDryRun: false, isLive: true });
      expect(report).to.include("recordings/site/site_look.json written").and.include("note: 2 services may change");
      expect(report).to.include("example 1 of site_fail: not recorded: site-tools: no moon");
      expect([run, isPartial]).to.deep.equal([["look"], true]);
      const recorded = await recordNew({ dir, ids: ["site"], env: {} });
      expect(recorded.report)
        .to.include("recordings/site/site_write.json written")
        .and.include("site_destroy: not asked");
      expect(run).to.deep.equal(["look", "write"]);
      const one = (...ids: string[]) => recordMissing({ dir, ids, env: {} });
      expect((await one("site_look", '{"a":3}')).report).to.equal("recordings/site/site_look.json written");
      expect((await one("site_look", '{"a":3}')).report).to.include("recorded already");
      expect((await one("site_look", '{"a":"x"}')).report).to.match(/^this input of site_look: not recorded: .*a: /);
      expect((await one("site_write")).report).to.include("recorded already");
      expect((await one("site_destroy")).report).to.include("not asked");
      expect(run).to.deep.equal(["look", "write", "look"]);
      expect((await runRecord({ dir, ids: [], check: true, env: {} })).hasFailed).to.equal(false);
    } finally {
      await site.close();
    }
    const shop = await openProxyShop({ files: dir, isRecorded: true });
    try {
      const sold = await shop.buy("/v1/site/look", { a: 1 });
      expect([sold.status, await sold.json()]).to.deep.equal([200, toText("look 1")]);
      const other = await shop.buy("/v1/site/look", { a: 3 });
      expect([other.status, await other.json()]).to.deep.equal([200, toText("look 3")]);
      const paid = shop.rail.moved.size;
      const missing = await shop.buy("/v1/site/look", { a: 2 });
      expect([missing.status, shop.rail.moved.size]).to.deep.equal([502, paid]);
      expect(await missing.text()).to.include("has no recording of site-tools for the tool look");
    } finally {
      await shop.close();
    }
  });
});
