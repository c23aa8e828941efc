import { expect } from "chai";
import { createFolder } from "../../support/folder.ts";
import { openToolSite } from "../../support/sources/tool-site.ts";
import { openProxy } from "./proxy.ts";

describe("payphone mcp-proxy, before a tool with arguments in headers", () => {
  it("sends the headers that the tool's schema asks for", async () => {
    const [site, spending] = [await openToolSite("stateless"), createFolder()];
    const region = { type: "string", "x-mcp-header": "Region" };
    site.offer({
      name: "ask",
      inputSchema: { type: "object", properties: { region } },
      outputSchema: { type: "object", required: ["never"] },
      run: () => ({ content: [{ type: "text", text: "asked" }] }),
    });
    const client = await openProxy(site.url, spending);

    await client.request({ method: "tools/list", params: {} });
    const asked = { name: "ask", arguments: { region: "us-west1" } };
    const { content } = (await client.request({ method: "tools/call", params: asked })) as { content: object[] };
    expect(content, "passed on unchecked").to.deep.equal([{ type: "text", text: "asked" }]);
    expect(site.asked.at(-1)?.headers).to.include({ "mcp-param-region": "us-west1" });

    await client.close();
    await site.close();
  });
});
