import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { expect } from "chai";
import type { LiveMcpServer } from "../../../runtime/drivers/mcp/mcp-server.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { openSiteServer } from "./site-server.ts";

interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly name?: string };
}

const RESULT = { content: [{ type: "text", text: "done" }] };
const SIGNAL = new AbortController().signal;

describe("an MCP server over Streamable HTTP that leaves its streams open", () => {
  let http: Server;
  let server: LiveMcpServer;
  /** The answers to the calls, in their order. */
  let streams: ServerResponse[];
  let begun: PromiseWithResolvers<void>;
  beforeEach(async () => {
    streams = [];
    begun = Promise.withResolvers();
    http = createServer(async (request, response) => {
      if (request.method !== "POST") return void response.writeHead(405).end();
      const { id, method, params } = (await json(request)) as Asked;
      if (id === undefined) return void response.writeHead(202).end();
      if (method === "tools/call") return callTool(params.name, id, response);
      const told = {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "x", version: "1" },
      };
      const known =
        method === "initialize" ? { result: told } : { error: { code: -32601, message: "Method not found" } };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...known }));
    });
    server = openSiteServer(`${await listenOnLoopback(http)}/mcp`);
  });
  afterEach(async () => {
    await server.close();
    await closeServer(http);
  });

  function callTool(name: string | undefined, id: number, response: ServerResponse): void {
    streams.push(response);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": working\n\n");
    begun.resolve();
    if (name === "hang") return;
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: RESULT })}\n\n`);
    if (name === "end") response.end();
  }

  it("does not keep a connection for each call that it has answered", async () => {
    for (let call = 0; call < 3; call += 1) expect(await server.call("leave", {}, SIGNAL)).to.deep.equal(RESULT);
    await Promise.all(streams.map((stream) => stream.closed || once(stream, "close")));
    expect(await server.call("leave", {}, SIGNAL), "the session goes on").to.deep.equal(RESULT);
  });

  it("does not keep one for a call whose caller has left", async () => {
    const leaving = new AbortController();
    const call = server.call("hang", {}, leaving.signal).catch((error: Error) => error.name);
    await begun.promise;
    leaving.abort();
    expect(await call).to.equal("AbortError");
    await Promise.all(streams.map((stream) => stream.closed || once(stream, "close")));
    expect(await server.call("leave", {}, SIGNAL)).to.deep.equal(RESULT);
  });

  it("uses a connection again whose stream ends with its answer", async () => {
    for (let call = 0; call < 20; call += 1) await server.call("end", {}, SIGNAL);
    expect(new Set(streams.map(({ req }) => req.socket.remotePort)).size).to.be.below(20);
  });
});
