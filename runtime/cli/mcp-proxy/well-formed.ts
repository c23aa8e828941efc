import { isSpecType, type Tool } from "@modelcontextprotocol/client";
import { isDeep, isObject } from "../../core/json.ts";
import { withAllFields, withObjects } from "../../surfaces/schema/joined.ts";
import { type ToolResult, toFailure } from "./results.ts";

/**
 * A tool's result that every client reads, as it may have been paid for: what does not fit MCP, or is structured only, is
 * handed on as text. What is nested too deeply cannot be written, and is left out.
 */
export function toReadable(result: ToolResult): ToolResult {
  if (isDeep(result)) {
    const { structuredContent: _, content = [], ...rest } = result;
    const [note] = toFailure(TOO_DEEP).content as [object];
    const shallow = { ...rest, content: [content, note].flat() };
    return isDeep(shallow) ? toFailure(TOO_DEEP) : toReadable(shallow);
  }
  const whole: ToolResult = { content: [], ...result };
  if (isSpecType.CallToolResult(whole)) {
    const { content = [], structuredContent } = whole;
    if (structuredContent === undefined || content.some(({ type }) => type === "text")) return whole;
    return { ...whole, content: [...content, { type: "text", text: JSON.stringify(structuredContent) }] };
  }
  const { _meta, ...said } = result;
  return {
    content: [{ type: "text", text: JSON.stringify(said) }],
    ...(isObject(said.structuredContent) && { structuredContent: said.structuredContent }),
    ...(result.isError === true && { isError: true }),
    ...(isObject(_meta) && { _meta }),
  };
}

const TOO_DEEP = "The seller's answer is nested too deeply to be handed on whole.";

/**
 * A page of a seller's list, without the tools and other members that are none by MCP: for one of them, clients refuse the
 * whole list. Nor does it promise what the seller's answers look like: clients throw away a result that breaks its
 * `outputSchema`, also a paid one.
 */
export function toReadablePage(page: ToolResult): ToolResult {
  const tools = (Array.isArray(page.tools) ? page.tools : []).map((tool) => ({ ...tool, outputSchema: undefined }));
  const whole = { ...page, tools: tools.filter((tool) => isSpecType.Tool(tool)) };
  if (isSpecType.ListToolsResult(whole)) return whole;
  return { tools: whole.tools, ...(typeof page.nextCursor === "string" && { nextCursor: page.nextCursor }) };
}

/** A page that is well formed, with all fields of each input at its root: model providers refuse every tool otherwise. */
export function withPlainInputs({ tools, ...rest }: ToolResult): ToolResult {
  const plain = (Array.isArray(tools) ? tools : []).map((tool: Tool) =>
    isDeep(tool) ? tool : { ...tool, inputSchema: withObjects(withAllFields(tool.inputSchema)) },
  );
  return { ...rest, tools: plain };
}
