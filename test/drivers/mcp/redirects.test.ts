import { createServer } from "node:http";
import { expect } from "chai";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { openToolSite } from "../../support/sources/tool-site.ts";
import { problemOf } from "../../support/thrown.ts";
import { openSiteServer } from "./site-server.ts";

const SIGNAL = new AbortController().signal;
const WORK = { name: "work", inputSchema: { type: "object" as const }, run: () => ({ content: [] }) };

describe("a redirect of an MCP server over HTTP", () => {
  for (const kind of ["stateless", "sessions"] as const)
    it(`is followed within its own origin, as to the same path with a slash, and to no other: ${kind}`, async () => {
      const site = await openToolSite(kind);
      site.offer(WORK);
      const other = createServer((_, response) => response.writeHead(307, { location: site.url }).end());
      const within = openSiteServer(site.url.replace("/mcp", "/moved"));
      const outwards = openSiteServer(`${await listenOnLoopback(other)}/mcp`);
      try {
        expect(await within.call("work", {}, SIGNAL)).to.deep.include({ content: [] });
        const asked = site.asked.length;
        const { cause } = await problemOf(outwards.call("work", {}, SIGNAL));
        expect((cause as Error).message).to.include(`Redirect to ${site.url} not followed`);
        expect(site.asked).to.have.length(asked);
      } finally {
        await Promise.all([within.close(), outwards.close(), closeServer(other)]);
        await site.close();
      }
    });
});
