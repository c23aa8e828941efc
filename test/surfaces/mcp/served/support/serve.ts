import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { closeServer, listenOnLoopback } from "../../../../../runtime/sandbox/json-rpc.ts";
import type { RpcDoor } from "../../../../../runtime/surfaces/rpc/door.ts";
import { toDoorRequest } from "../../../../support/door-request.ts";

/** What a client really sent, and the status that it got. */
export interface Exchange {
  readonly method: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly status: number;
}

export interface Served {
  /** The endpoint's URL, on a free port of the loopback address. */
  readonly url: string;
  /** Every request as it came and what it was answered with, in the order of the answers. */
  readonly seen: Exchange[];
  close(): Promise<void>;
}

/** The endpoint behind node:http, and nothing else: what a server floor must add is the limits alone. */
export async function serve(toMcp: (baseUrl: string) => RpcDoor | Promise<RpcDoor>): Promise<Served> {
  const server = createServer();
  const baseUrl = await listenOnLoopback(server);
  const mcp = await toMcp(baseUrl);
  const seen: Served["seen"] = [];
  server.on("request", (request, response) => void answer(mcp, seen, request, response));
  return {
    url: `${baseUrl}/mcp`,
    seen,
    close: () => closeServer(server),
  };
}

async function answer(
  mcp: RpcDoor,
  seen: Served["seen"],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = "", headers, url } = request;
  const body = await text(request);
  if (url !== "/mcp") return void response.writeHead(404).end();
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const post = toDoorRequest(body, { headers, signal: gone.signal });
  const reply = method === "POST" ? await mcp.handle(post) : { status: 405, headers: { allow: "POST" }, body: "" };
  seen.push({ method, headers, body, status: reply.status });
  response.writeHead(reply.status, reply.headers).end(reply.body);
}
