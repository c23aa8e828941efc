import { createServer, type ServerResponse } from "node:http";
import { expect } from "chai";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { openToolSite } from "../../support/sources/tool-site.ts";
import { openProxy } from "./proxy.ts";

const ERROR = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "Invalid request" } });

describe("payphone mcp-proxy, at a seller of an older version", () => {
  const content = [{ type: "text" as const, text: "here" }];

  /** Calls a tool of a seller. @param answer given to its first request */
  async function call(result: object, answer?: (response: ServerResponse) => unknown): Promise<object> {
    const site = await openToolSite("sessions");
    site.offer({ name: "work", inputSchema: { type: "object" as const }, run: () => ({ content, ...result }) });
    if (answer)
      site.intercept((response) => {
        site.intercept(undefined);
        answer(response);
      });
    const client = await openProxy(site.url, createFolder());
    try {
      return await client.callTool({ name: "work", arguments: {} });
    } finally {
      await client.close();
      await site.close();
    }
  }

  for (const [what, answer] of [
    ["fails", (response) => response.writeHead(500, { "content-type": "application/json" }).end(ERROR)],
    ["answers with a page", (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>")],
    ["finds nothing", (response) => response.writeHead(404).end()],
    ["says nothing", () => {}],
  ] as readonly (readonly [string, (response: ServerResponse) => unknown])[])
    it(`that ${what} when it is asked for its versions, calls its tools`, async () => {
      expect(await call({}, answer)).to.deep.include({ content });
    });

  it("that names a type of its own of a result, passes the result on", async () => {
    expect(await call({ resultType: "final" })).to.deep.include({ content });
  });

  it("that says nothing at all, waits for it no longer than its client does", async () => {
    const met: string[] = [];
    const server = createServer(({ method = "" }) => void met.push(method));
    const client = await openProxy(`${await listenOnLoopback(server)}/mcp`, createFolder());
    const listed = client.listTools().catch(() => undefined);
    await eventually(() => met.length > 0);
    await client.close();
    await listed;
    await closeServer(server);
    expect(met, "no second request, which is made when the first one gets no answer in time").to.deep.equal(["POST"]);
  });
});
