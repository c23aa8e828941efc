import { expect } from "chai";
import { removeDirectories } from "../../core/set/served-directory.ts";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import { openToolSite, type ToolSite } from "../../support/sources/tool-site.ts";

const WRITE = `id: write
title: Write
description: Writes something down.
route: POST /v1/write
price: "0.002"
charge: first
proxy: { mcp: site, tool: write }
input: { type: object, properties: {} }
output: { type: object, properties: { content: { type: array, items: {} } }, required: [content] }
tags: []
examples:
  - input: {}
`;

for (const kind of ["stateless", "sessions"] as const)
  describe(`a tool that is paid first, of an MCP server over HTTP, ${kind}`, () => {
    let site: ToolSite;
    let shop: ProxyShop;
    before(async () => {
      site = await openToolSite(kind);
      site.offer({ name: "write", inputSchema: { type: "object" as const }, run: () => ({ content: [] }) });
      shop = await openProxyShop({
        files: () => ({
          "manifests/_site.yaml": siteOf(`{ id: site, title: Site, url: "${site.url}", mcp: http }`),
          "manifests/write.yaml": WRITE,
        }),
      });
    });
    after(async () => {
      await shop.close();
      await site.close();
      await removeDirectories();
    });

    for (const [what, status, answer] of [
      ["cannot be reached", 502, undefined],
      ["refuses its credential", 500, 401],
    ] as const)
      it(`costs nothing while the server ${what}`, async () => {
        site.intercept((response) => {
          if (answer === undefined) response.socket?.destroy();
          else response.writeHead(answer).end();
        });
        expect([(await shop.buy("/v1/write", {})).status, shop.rail.moved.size]).to.deep.equal([status, 0]);
        shop.clock.advance(5000);
      });

    it("is charged and done when it is there again", async () => {
      site.intercept(undefined);
      expect(await (await shop.buy("/v1/write", {})).json()).to.deep.equal({ content: [] });
      expect([site.calls(), shop.rail.moved.size]).to.deep.equal([1, 1]);
    });
  });
