import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { createFolder } from "../../support/folder.ts";
import { openToolSite } from "../../support/sources/tool-site.ts";
import { openProxy } from "./proxy.ts";

const ERROR = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "Invalid request" } });

describe("payphone mcp-proxy, at a seller of an older version", () => {
  for (const [what, answer] of [
    ["fails", (response) => response.writeHead(500, { "content-type": "application/json" }).end(ERROR)],
    ["answers with a page", (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>")],
    ["says nothing", () => {}],
  ] as readonly (readonly [string, (response: ServerResponse) => unknown])[])
    it(`that ${what} when it is asked for its versions, calls its tools`, async () => {
      const site = await openToolSite("sessions");
      const content = [{ type: "text" as const, text: "here" }];
      site.offer({ name: "work", inputSchema: { type: "object" as const }, run: () => ({ content }) });
      site.intercept((response) => {
        site.intercept(undefined);
        answer(response);
      });
      const spending = createFolder();
      const client = await openProxy(site.url, spending);
      try {
        expect(await client.callTool({ name: "work", arguments: {} })).to.deep.include({ content });
      } finally {
        await client.close();
        await site.close();
      }
    });

  it("that names a type of its own of a result, passes the result on", async () => {
    const site = await openToolSite("sessions");
    const content = [{ type: "text" as const, text: "here" }];
    const result = { content, resultType: "final" };
    site.offer({ name: "work", inputSchema: { type: "object" as const }, run: () => result });
    const spending = createFolder();
    const client = await openProxy(site.url, spending);
    try {
      expect(await client.callTool({ name: "work", arguments: {} })).to.deep.include({ content });
    } finally {
      await client.close();
      await site.close();
    }
  });
});
