import { expect } from "chai";
import { openProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import { openToolSite, type SiteTool } from "../../support/sources/tool-site.ts";

const WRITE = `id: write
title: Write
description: Writes something down.
route: POST /v1/write
price: "0.002"
proxy: { mcp: site, tool: write }
input: { type: object, properties: {} }
output: { type: object, properties: { content: { type: array, items: {} } }, required: [content] }
tags: []
examples:
  - input: {}
`;

describe("an MCP server whose list of tools cannot be read", () => {
  it("is not asked for it by each failing call: their buyers would wait for it", async () => {
    await using opened = new AsyncDisposableStack();
    let lists = 0;
    const tool: SiteTool = {
      name: "write",
      inputSchema: { type: "object" },
      run: () => ({ isError: true, content: [{ type: "text", text: "The tool has failed" }] }),
      get isHidden(): boolean {
        lists += 1;
        throw new Error("the list is broken");
      },
    };
    const site = await openToolSite("sessions");
    site.offer(tool);
    opened.defer(site.close);
    const shop = await openProxyShop({
      files: () => ({
        "manifests/_site.yaml": siteOf(`{ id: site, title: Site, url: "${site.url}", mcp: http }`),
        "manifests/write.yaml": WRITE,
      }),
    });
    opened.defer(shop.close);
    const buy = async (): Promise<number> => (await shop.buy("/v1/write", {})).status;
    const first = await buy();
    const asked = lists;
    expect([first, asked > 0]).to.deep.equal([400, true]);
    expect([await buy(), await buy(), lists]).to.deep.equal([400, 400, asked]);
    shop.clock.advance(20_000);
    expect([await buy(), lists > asked, shop.rail.moved.size]).to.deep.equal([400, true, 0]);
  });
});
