import type { CallToolResult, Client, RequestOptions } from "@modelcontextprotocol/client";
import { isObject, type JsonObject } from "../../core/json.ts";
import { LONGEST_TIMER_MS } from "../../core/time/deadline.ts";
import { createIdleTimeout } from "../http/idle-timeout.ts";
import { listRaw } from "./tool-list.ts";

/** How long a call may take, and what ends it. */
export interface CallTerms {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Calls a tool (MCP, "Calling Tools"). @throws the client's errors. */
export type CallTool = (tool: string, input: JsonObject, terms: CallTerms) => Promise<CallToolResult>;

/**
 * The server misses fields of the input in headers, and has not run the call (MCP 2026-07-28, "x-mcp-header"). In older
 * versions, this code may mean anything.
 */
const HEADER_MISMATCH = -32020;

/** The client's own timer would be due before it has read what came while this process stood still. */
export async function inTime<T>(
  ms: number,
  signal: AbortSignal,
  ask: (bounds: RequestOptions) => Promise<T>,
): Promise<T> {
  const timeout = createIdleTimeout(ms, signal);
  return ask({ signal: timeout.signal, timeout: LONGEST_TIMER_MS }).finally(timeout.end);
}

/**
 * Calls the tools of a session. Which headers a tool asks for is learned when the server misses them, since most ask for none.
 * Left to itself, the client would read the list for that, which fails for one malformed tool, and then hold results to the
 * server's own schemas: the service has one of its own.
 */
export function createToolCalls(client: Client): CallTool {
  /** The input schemas of tools that ask for headers. */
  const known = new Map<string, object>();

  function callOnce(name: string, input: JsonObject, { signal, timeoutMs }: CallTerms): Promise<CallToolResult> {
    const toolDefinition = { name, inputSchema: { ...known.get(name), type: "object" as const } };
    return inTime(timeoutMs, signal, (bounds) =>
      client.callTool({ name, arguments: { ...input } }, { ...bounds, toolDefinition }),
    );
  }

  return async (name, input, terms) => {
    try {
      return await callOnce(name, input, terms);
    } catch (error) {
      const { code } = error as { readonly code?: unknown };
      if (code !== HEADER_MISMATCH || client.getProtocolEra() !== "modern") throw error;
      const tools = await listRaw(client, terms.timeoutMs);
      const tool = tools.find((one) => isObject(one) && one.name === name);
      const { inputSchema } = isObject(tool) ? tool : {};
      if (!isObject(inputSchema)) throw error;
      known.set(name, inputSchema);
      return callOnce(name, input, terms);
    }
  };
}
