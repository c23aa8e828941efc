import type { Transport } from "@modelcontextprotocol/client";
import { isObject, type JsonObject } from "../../core/json.ts";

/** The member of a list's result that has the malformed tools, too. It is added to what the server has sent. */
export const ALL_TOOLS = "payphone/tools";

/**
 * Takes malformed tools out of each list: for one of them, the client refuses the whole list. A list of nothing else stays as
 * it is.
 * @param isTool whether a tool is one by MCP
 */
export function takeOutMalformed<T extends Transport>(transport: T, isTool: (tool: unknown) => boolean): T {
  const heard = transport.onmessage;
  // The client sets its own listener later, which calls this one first.
  transport.onmessage = (message, extra) => {
    heard?.(message, extra);
    const result: JsonObject = "result" in message && isObject(message.result) ? message.result : {};
    const { tools } = result;
    if (!Array.isArray(tools) || tools.every(isTool) || !tools.some(isTool)) return;
    Object.assign(message, { result: { ...result, tools: tools.filter(isTool), [ALL_TOOLS]: tools } });
  };
  return transport;
}
