import { createServer } from "node:http";
import { expect } from "chai";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { createFolder } from "../../support/folder.ts";
import { openToolSite } from "../../support/sources/tool-site.ts";
import { openProxy } from "./proxy.ts";

describe("payphone mcp-proxy, at a seller that leads elsewhere", () => {
  it("follows within the seller's own origin, as to the same path with a slash, and to no other", async () => {
    const site = await openToolSite("sessions");
    const content = [{ type: "text" as const, text: "here" }];
    site.offer({ name: "work", inputSchema: { type: "object" as const }, run: () => ({ content }) });
    const other = createServer((_, response) => response.writeHead(308, { location: site.url }).end());
    const within = await openProxy(site.url.replace("/mcp", "/moved"), createFolder());
    const outwards = await openProxy(`${await listenOnLoopback(other)}/mcp`, createFolder());
    const work = { name: "work", arguments: {} };
    try {
      expect(await within.callTool(work)).to.deep.include({ content });
      const asked = site.asked.length;
      const refused = await outwards.callTool(work);
      expect(JSON.stringify(refused)).to.include(`Redirect to ${site.url} not followed`);
      expect([refused.isError, site.asked.length]).to.deep.equal([true, asked]);
    } finally {
      await Promise.all([within.close(), outwards.close(), closeServer(other)]);
      await site.close();
    }
  });
});
