import { join } from "node:path";
import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";
import { runMcpImport } from "../../runtime/cli/import/import-mcp.ts";
import { faultsOf, manifestOf } from "../cli/import/shop.ts";
import { makeDirectory } from "../core/set/served-directory.ts";
import { openProxyShop, type ProxyShop } from "../support/sellers/proxy-shop.ts";
import { siteOf } from "../support/sellers/site-of.ts";
import { CLIENTS } from "../surfaces/a2a/served/support/clients.ts";
import { CONFIGURATIONS } from "../surfaces/mcp/served/support/clients.ts";

const PROGRAM = [process.execPath, join(import.meta.dirname, "../support/sources/tool-server.ts")];
const COMMAND = { server: PROGRAM, tools: [], all: true, variables: [], env: {}, isDryRun: false, price: "0.004" };

const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "",
    (error: unknown) => (error instanceof Problem ? error.message : String(error)),
  );

describe("an MCP server over standard input and output", () => {
  let shop: ProxyShop;
  let dir: string;
  let report: string;
  before(async () => {
    shop = await openProxyShop({
      files: async (url) => {
        dir = await makeDirectory({ "manifests/_site.yaml": siteOf(`{ id: other, title: Other, url: "${url}" }`) });
        ({ report } = await runMcpImport({ ...COMMAND, dir, upstream: "tools" }));
        return dir;
      },
    });
  });
  after(() => shop.close());

  it("is imported with all its tools, which pass the check", async () => {
    expect(report).to.include("7 services: 9 files written").and.include("paid first: tools_crash, tools_hoard");
    expect(await faultsOf(dir)).to.deep.equal([]);
    const { proxy, hints, examples } = await manifestOf(dir, "tools_add");
    expect(proxy).to.deep.equal({ mcp: "tools", tool: "add" });
    expect(hints).to.deep.equal({ readOnly: true, idempotent: true, destructive: false, openWorld: false });
    expect(examples).to.deep.equal([{ input: { a: 1, b: 2 } }]);
    expect(await manifestOf(dir, "tools_crash")).to.include({ charge: "first" });
  });

  it("lists its tools when none is named, and refuses one that it does not have", async () => {
    const listed = await runMcpImport({ ...COMMAND, dir, all: false });
    expect(listed.report).to.match(/^draw +Draws one pixel\.$/m);
    const again = await runMcpImport({ ...COMMAND, dir, all: false, upstream: "own", variables: ["A", "B"] });
    const given = `--upstream own --env A,B -- ${PROGRAM.join(" ")}`;
    expect(again.report).to.include(`npx payphone import mcp --all ${given}`).and.include(` --price 0.005 ${given}`);
    const unknown = runMcpImport({ ...COMMAND, dir, all: false, tools: ["ad"] });
    expect(await refusalOf(unknown)).to.include('ad: no such tool; did you mean "add"?');
  });

  it("refuses the name of a credential that would not be passed on", async () => {
    const keyed = runMcpImport({ ...COMMAND, dir, key: "TOKEN" });
    expect(await refusalOf(keyed)).to.equal("--key is for a URL; a program gets TOKEN with --env TOKEN");
    const lent = runMcpImport({ ...COMMAND, dir, server: ["http://127.0.0.1:9/mcp"], variables: ["TOKEN"] });
    expect(await refusalOf(lent)).to.match(/^--env is for a program; --key names /);
  });

  it("is sold over REST", async () => {
    const response = await shop.buy("/v1/tools/add", { a: 2, b: 3 });
    expect([response.status, await response.json()]).to.deep.equal([200, { sum: 5 }]);
  });

  it("is sold over MCP, and its pictures and resources pass as they are", async () => {
    const client = await CONFIGURATIONS[0]!.connect(`${shop.url}/mcp`);
    try {
      const call = { name: "tools_draw", arguments: {} };
      const unpaid = await client.callTool(call);
      const paid = { ...call, _meta: { "x402/payment": shop.pay(unpaid._meta["x402/error"]) } };
      const { content } = await client.callTool(paid);
      expect(content.map(({ type }: { type: string }) => type)).to.deep.equal(["text", "image", "resource"]);
      expect(content[1].mimeType).to.equal("image/png");
    } finally {
      await client.close();
    }
  });

  it("is sold over A2A", async () => {
    const client = await CLIENTS[0]![1](shop.url);
    const waiting = await client.begin("tools_add", { a: 2, b: 3 });
    const done = await client.pay(waiting, shop.pay(waiting.status.message.metadata["x402.payment.required"]));
    expect(client.state(done)).to.equal("completed");
    expect(JSON.stringify(done.artifacts)).to.include('"sum":5');
  });

  it("costs nothing when a tool says that it failed, or answers something else than it says", async () => {
    const before = shop.rail.moved.size;
    const refused = await shop.buy("/v1/tools/refuse", {});
    expect(refused.status).to.equal(400);
    expect(await refused.json()).to.have.property("detail", "test-tools: The moon is not full");
    expect((await shop.buy("/v1/tools/lie", {})).status).to.equal(502);
    expect(shop.rail.moved.size).to.equal(before);
  });
});
