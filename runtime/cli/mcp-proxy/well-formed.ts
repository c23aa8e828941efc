import { isSpecType } from "@modelcontextprotocol/client";
import { isObject } from "../../core/json.ts";
import type { ToolResult } from "./results.ts";

/**
 * A tool's result that every client reads: it may have been paid for. Members that are null are left out, and what does not
 * fit MCP then is handed on as text.
 */
export function toReadable(result: ToolResult): ToolResult {
  const plain = { content: [], ...withoutNulls(result) };
  const { content } = plain as ToolResult;
  const whole = { ...plain, ...(Array.isArray(content) && { content: content.map(withoutNulls) }) };
  if (isSpecType.CallToolResult(whole)) return whole;
  const { _meta, ...said } = result;
  return {
    content: [{ type: "text", text: JSON.stringify(said) }],
    ...(result.isError === true && { isError: true }),
    ...(isObject(_meta) && { _meta }),
  };
}

/** A page of a seller's list, without the tools that are none by MCP: for one of them, clients refuse the whole list. */
export function toReadablePage(page: ToolResult): ToolResult {
  const tools: unknown[] = Array.isArray(page.tools) ? page.tools : [];
  return { ...withoutNulls(page), tools: tools.map(withoutNulls).filter((tool) => isSpecType.Tool(tool)) };
}

/** An object of MCP without members that are null; what its members hold is its seller's own. */
function withoutNulls(value: unknown): object {
  if (!isObject(value)) return {};
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(
    members.map(([name, member]) => [name, OF_MCP.includes(name) ? withoutNulls(member) : member]),
  );
}

/** The members of tools and content blocks that are objects of MCP. */
const OF_MCP: readonly string[] = ["annotations", "resource"];
