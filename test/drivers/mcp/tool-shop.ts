import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import type { ToolSite } from "../../support/sources/tool-site.ts";

/** Sells the tool `write` of a site, without input, as `POST /v1/write`. @param terms more lines of its manifest. */
export const openToolShop = ({ url }: ToolSite, terms = ""): Promise<ProxyShop> =>
  openProxyShop({
    files: () => ({
      "manifests/_site.yaml": siteOf(`{ id: site, title: Site, url: "${url}", mcp: http }`),
      "manifests/write.yaml": `id: write
title: Write
description: Writes something down.
route: POST /v1/write
price: "0.002"
${terms}
proxy: { mcp: site, tool: write }
input: { type: object, properties: {} }
output: { type: object, properties: { content: { type: array, items: {} } }, required: [content] }
tags: []
examples:
  - input: {}
`,
    }),
  });
