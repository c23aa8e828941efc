import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** The methods of a JSON-RPC 2.0 server with positional parameters. */
export type RpcMethods = Readonly<Record<string, (params: readonly unknown[]) => unknown>>;

/** A JSON-RPC 2.0 error, thrown by methods. */
export class NodeRpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Answers JSON-RPC 2.0 over HTTP POST, single calls and batches. */
export function createRpcServer(methods: RpcMethods): Server {
  return createServer(async (request, response) => {
    const answer = await answerTo(methods, request);
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  });
}

/** Listens on any free loopback port and gives its URL. */
export async function listenOnLoopback(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Closes the server and all its connections. */
export async function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}

async function answerTo(methods: RpcMethods, request: IncomingMessage): Promise<unknown> {
  let body: unknown;
  try {
    body = await json(request);
  } catch {
    return { jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } };
  }
  return Array.isArray(body) ? body.map((call) => answerCall(methods, call)) : answerCall(methods, body);
}

function answerCall(methods: RpcMethods, call: unknown): unknown {
  const { id = null, method = "", params = [] } = (call ?? {}) as { id?: unknown; method?: string; params?: unknown[] };
  try {
    const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (!run) throw new NodeRpcError(-32601, "Method not found");
    return { jsonrpc: "2.0", id, result: run(params) };
  } catch (error) {
    const { code, message, data } =
      error instanceof NodeRpcError ? error : new NodeRpcError(-32602, `Invalid params: ${(error as Error).message}`);
    return { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
  }
}
