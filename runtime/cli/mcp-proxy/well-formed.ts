import { isSpecType } from "@modelcontextprotocol/client";
import { isObject } from "../../core/json.ts";
import { toPlain } from "../../drivers/mcp/nulls.ts";
import type { ToolResult } from "./results.ts";

/**
 * A tool's result that every client reads: it may have been paid for. Members that are null are left out, and what does not
 * fit MCP then is handed on as text.
 */
export function toReadable(result: ToolResult): ToolResult {
  const plain = { content: [], ...toPlain(result) };
  if (isSpecType.CallToolResult(plain)) return plain;
  const { _meta, ...said } = result;
  return {
    content: [{ type: "text", text: JSON.stringify(said) }],
    ...(result.isError === true && { isError: true }),
    ...(isObject(_meta) && { _meta }),
  };
}

/** A page of a seller's list, without the tools that are none by MCP: for one of them, clients refuse the whole list. */
export function toReadablePage(page: ToolResult): ToolResult {
  const { tools, ...rest } = toPlain(page);
  return { ...rest, tools: (Array.isArray(tools) ? tools : []).filter((tool) => isSpecType.Tool(tool)) };
}
