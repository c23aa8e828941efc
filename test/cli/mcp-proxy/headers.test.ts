import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect } from "chai";
import { INHERITED } from "../../support/inherited.ts";
import { createDataDir } from "../../support/sellers/seller.ts";
import { openToolSite } from "../../support/sources/tool-site.ts";

const LAUNCHER = join(import.meta.dirname, "../../../runtime/cli/payphone.js");

describe("payphone mcp-proxy, before a tool with arguments in headers", () => {
  it("sends the headers that the tool's schema asks for", async () => {
    const [site, spending] = [await openToolSite("stateless"), createDataDir()];
    const region = { type: "string", "x-mcp-header": "Region" };
    site.offer({
      name: "ask",
      inputSchema: { type: "object", properties: { region } },
      outputSchema: { type: "object", required: ["never"] },
      run: () => ({ content: [{ type: "text", text: "asked" }] }),
    });
    const client = new Client({ name: "a-test", version: "1.0.0" });
    const args = [LAUNCHER, "mcp-proxy", site.url, "--spending", spending.path];
    const env = { ...INHERITED };
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));

    await client.request({ method: "tools/list", params: {} });
    const asked = { name: "ask", arguments: { region: "us-west1" } };
    const { content } = (await client.request({ method: "tools/call", params: asked })) as { content: object[] };
    expect(content, "passed on unchecked").to.deep.equal([{ type: "text", text: "asked" }]);
    expect(site.asked.at(-1)?.headers).to.include({ "mcp-param-region": "us-west1" });

    await client.close();
    await site.close();
    spending.remove();
  });
});
