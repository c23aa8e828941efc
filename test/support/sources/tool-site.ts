import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Server as Server1 } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { type CallToolResult, createMcpHandler, Server, type Tool } from "@modelcontextprotocol/server";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";

/** A tool of the site, with its behaviour. */
export type SiteTool = Tool & {
  /** Whether the list lacks it. */
  readonly isHidden?: boolean;
  readonly run: (input: Record<string, unknown>) => CallToolResult | Promise<CallToolResult>;
};

/** An MCP server over Streamable HTTP on loopback. Its path `/moved` leads to `url`. */
export interface ToolSite {
  readonly url: string;
  /** The headers and queries of all requests. */
  readonly asked: readonly IncomingMessage[];
  /** The number of tool calls. */
  calls(): number;
  /** Sets the tools from the next request on. */
  offer(...tools: readonly SiteTool[]): void;
  /** Sets the answer to every request; undefined ends that. */
  intercept(answer: ((response: ServerResponse) => void) | undefined): void;
  /** Forgets all sessions, as after a restart. @param answer to requests of these sessions; default: 404. */
  forget(answer?: readonly [status: number, body: string]): void;
  close(): Promise<void>;
}

/** @param kind the SDK for protocol 2026, without sessions; or the SDK for 2025, with sessions. */
export async function openToolSite(kind: "stateless" | "sessions"): Promise<ToolSite> {
  const asked: IncomingMessage[] = [];
  let tools: readonly SiteTool[] = [];
  let calls = 0;
  let answer: ((response: ServerResponse) => void) | undefined;
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  let unknown: readonly [number, string] = [404, ""];
  const list = (): { tools: Tool[] } => ({
    tools: tools.flatMap(({ run: _, isHidden, ...tool }) => (isHidden ? [] : [tool])),
  });
  const call = async (name: string, input: Record<string, unknown> = {}): Promise<CallToolResult> => {
    const tool = tools.find((one) => one.name === name);
    if (!tool) throw new Error(`Unknown tool ${name}`);
    calls += 1;
    return tool.run(input);
  };
  const handler = createMcpHandler(() => {
    const server = new Server({ name: "site-tools", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", list);
    server.setRequestHandler("tools/call", ({ params }) => call(params.name, params.arguments));
    return server;
  });
  const server = createServer(async (request, response) => {
    asked.push(request);
    if (answer) return answer(response);
    if (request.url === "/moved") return void response.writeHead(307, { location: "/mcp" }).end();
    await (kind === "stateless" ? serveOnce(request, response) : serveSession(request, response));
  });
  const url = `${await listenOnLoopback(server)}/mcp`;

  return {
    url,
    asked,
    calls: () => calls,
    offer(...next) {
      tools = next;
    },
    intercept(next) {
      answer = next;
    },
    forget(next = [404, '{"error":"no such session"}']) {
      sessions.clear();
      unknown = next;
    },
    async close() {
      await handler.close();
      await closeServer(server);
    },
  };

  async function serveOnce(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", headers } = request;
    const body = method === "POST" ? { body: new Uint8Array(await buffer(request)) } : {};
    const answered = await handler.fetch(
      new Request(url, { method, headers: headers as Record<string, string>, ...body }),
    );
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    if (answered.body) Readable.fromWeb(answered.body as never).pipe(response);
    else response.end();
  }

  async function serveSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (id !== undefined && !known) return void response.writeHead(unknown[0]).end(unknown[1]);
    await (known ?? (await openSession())).handleRequest(request, response);
  }

  async function openSession(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const own = new Server1({ name: "site-tools", version: "1" }, { capabilities: { tools: { listChanged: true } } });
    own.setRequestHandler(ListToolsRequestSchema, list as never);
    own.setRequestHandler(CallToolRequestSchema, (({ params }: { params: { name: string; arguments?: object } }) =>
      call(params.name, { ...params.arguments })) as never);
    await own.connect(transport as never);
    return transport;
  }
}
