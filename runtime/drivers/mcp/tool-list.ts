import type { Client, Tool } from "@modelcontextprotocol/client";
import { isObject } from "../../core/json.ts";

/** The tools of an MCP server. */
export interface ToolList {
  readonly tools: readonly Tool[];
  /** Those that do not fit the schema of a tool (MCP, "Listing Tools"). */
  readonly malformed: readonly MalformedTool[];
}

export interface MalformedTool {
  readonly name: string;
  /** Where it does not fit, and how. */
  readonly reason: string;
}

const MOST_PAGES = 64;

/**
 * All tools, from all pages. For one malformed tool, the client refuses the whole list: it is then read again without
 * its checks. @throws the client's errors, also for a list of more than 64 pages, or without a well-formed tool.
 */
export async function listTools(client: Client, timeout: number): Promise<ToolList> {
  const { SdkError, SdkErrorCode } = await import("@modelcontextprotocol/client");
  try {
    return { tools: (await client.listTools({}, { timeout })).tools, malformed: [] };
  } catch (error) {
    if (!(error instanceof SdkError) || error.code !== SdkErrorCode.InvalidResult) throw error;
    const list = await listWellFormed(client, timeout);
    if (list.tools.length === 0) throw error;
    return list;
  }
}

/** The names of all tools, which the client does not keep. @throws as `listTools`. */
export const listNames = async (client: Client, timeout: number): Promise<readonly string[]> =>
  (await listRaw(client, timeout)).map(nameOf);

async function listWellFormed(client: Client, timeout: number): Promise<ToolList> {
  const { isSpecType } = await import("@modelcontextprotocol/client");
  const tools: Tool[] = [];
  const malformed: MalformedTool[] = [];
  for (const tool of await listRaw(client, timeout))
    if (isSpecType.Tool(tool)) tools.push(tool);
    else malformed.push({ name: nameOf(tool), reason: await explain(tool) });
  return { tools, malformed };
}

async function listRaw(client: Client, timeout: number): Promise<readonly unknown[]> {
  const { specTypeSchemas } = await import("@modelcontextprotocol/client");
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const request = { method: "tools/list", params: cursor === undefined ? {} : { cursor } };
    const result = await client.request(request, specTypeSchemas.PaginatedResult, { timeout });
    if (Array.isArray(result.tools)) tools.push(...result.tools);
    cursor = result.nextCursor;
    if (cursor === undefined) return tools;
  }
  throw new Error(`the list of tools has more than ${MOST_PAGES} pages`);
}

const nameOf = (tool: unknown): string =>
  isObject(tool) && typeof tool.name === "string" ? tool.name : "a tool without a name";

async function explain(tool: unknown): Promise<string> {
  const { specTypeSchemas } = await import("@modelcontextprotocol/client");
  const { issues = [] } = await specTypeSchemas.Tool["~standard"].validate(tool);
  const [issue] = issues;
  const place = (issue?.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".");
  return `its ${place || "entry"} breaks MCP: ${issue?.message}`;
}
