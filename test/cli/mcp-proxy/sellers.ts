import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type Server, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";

/**
 * Hands requests below /paid on to a server, beside another site, and loses as many answers to paid ones as it is told to.
 * While `hides` is set, it does not say that the server is a sandbox.
 */
export async function startForgetful(target: string): Promise<{
  url: string;
  lose: (count: number) => void;
  lost: () => number;
  hide: (hides: boolean) => void;
  server: Server;
}> {
  let [left, lost, hides] = [0, 0, false];
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const { host: _, ...headers } = incoming.headers;
    const [, path] = /^\/paid(\/.*)$/.exec(incoming.url ?? "") ?? [];
    if (path === undefined || (hides && path === "/sandbox")) return void outgoing.writeHead(404).end("another site");
    const onward = request(new URL(path, target), { method: incoming.method, headers });
    onward.end(body);
    const [answer] = await once(onward, "response");
    const bytes = await buffer(answer);
    if (left > 0 && body.includes("x402/payment")) {
      left -= 1;
      lost += 1;
      return void outgoing.destroy();
    }
    outgoing.writeHead(answer.statusCode, { "content-type": answer.headers["content-type"] }).end(bytes);
  });
  const { port } = new URL(await listenOnLoopback(server));
  return {
    url: `http://127.0.0.1:${port}/paid`,
    lose: (count) => ([left, lost] = [count, 0]),
    lost: () => lost,
    hide: (isHidden) => {
      hides = isHidden;
    },
    server,
  };
}

/**
 * A server of the handshake era with sessions, and one free tool, at a path that ends with a slash. It can forget all of
 * its sessions, as a restart does. `streams` counts the streams that it holds open for its clients.
 */
export async function startForgettingSessions(): Promise<{
  url: string;
  forget: () => void;
  streams: () => number;
  server: Server;
}> {
  const sessions = new Set<string>();
  const streams = new Set<ServerResponse>();
  const server = createServer(async (incoming, outgoing) => {
    const { id, method, params } = JSON.parse((await buffer(incoming)).toString() || "{}");
    const reply = (status: number, body: object, headers = {}): void =>
      void outgoing.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    const answer = (result: object, headers = {}): void => reply(200, { jsonrpc: "2.0", id, result }, headers);
    if (incoming.url !== "/mcp/") return reply(404, {});
    if (method === "initialize") {
      const session = randomUUID();
      sessions.add(session);
      const { protocolVersion } = params;
      const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "old", version: "1" } };
      return answer(result, { "mcp-session-id": session });
    }
    if (method === "server/discover") return reply(400, { jsonrpc: "2.0", id, error: { code: -32601, message: "?" } });
    if (!sessions.has(String(incoming.headers["mcp-session-id"]))) return reply(404, {});
    if (incoming.method === "GET") {
      streams.add(outgoing.once("close", () => streams.delete(outgoing)));
      return outgoing.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    }
    if (id === undefined) return void outgoing.writeHead(202).end();
    if (params?.name === "dear") {
      const data = { x402Version: 1, error: "pay", accepts: [{ scheme: "exact", network: "base" }] };
      return reply(200, { jsonrpc: "2.0", id, error: { code: 402, message: "Payment required", data } });
    }
    outgoing.setHeader("content-type", "application/json");
    if (params?.name === "endless") return void Readable.from(toMegabytes(256)).pipe(outgoing);
    return answer({ content: [{ type: "text", text: "here" }] });
  });
  const { port } = new URL(await listenOnLoopback(server));
  const url = `http://127.0.0.1:${port}/mcp/`;
  return { url, forget: () => sessions.clear(), streams: () => streams.size, server };
}

function* toMegabytes(count: number): Generator<string> {
  for (let at = 0; at < count; at++) yield "x".repeat(1024 * 1024);
}
