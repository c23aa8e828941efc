import type { Client, Tool } from "@modelcontextprotocol/client";
import { isObject } from "../../core/json.ts";
import { ALL_TOOLS } from "./malformed-tools.ts";

/** The tools of an MCP server. */
export interface ToolList {
  readonly tools: readonly Tool[];
  /** Those that do not fit the schema of a tool (MCP, "Listing Tools"), or that the client leaves out for their headers. */
  readonly malformed: readonly MalformedTool[];
}

export interface MalformedTool {
  readonly name: string;
  /** Where it does not fit, and how. */
  readonly reason: string;
}

const MOST_PAGES = 64;

/** All tools, from all pages. @throws the client's errors, also for a list of more than 64 pages. */
export async function listTools(client: Client, timeout: number): Promise<ToolList> {
  const { isSpecType } = await import("@modelcontextprotocol/client");
  const { tools } = await client.listTools({}, { timeout });
  const taken = new Set(tools.map(({ name }) => name));
  const malformed = (await listRaw(client, timeout)).filter((tool) => !isSpecType.Tool(tool) || !taken.has(tool.name));
  const explained = malformed.map(async (tool) => ({ name: nameOf(tool), reason: await explain(tool) }));
  return { tools, malformed: await Promise.all(explained) };
}

/** A tool as the server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly inputSchema: unknown;
}

/** All tools that can be called, and not only run as a task. @throws as `listTools`. */
export const listCallable = async (client: Client, timeout: number): Promise<readonly ListedTool[]> =>
  (await listRaw(client, timeout))
    .filter((tool) => !isTaskOnly(tool))
    .map((tool) => ({ name: nameOf(tool), inputSchema: isObject(tool) ? tool.inputSchema : undefined }));

/** MCP 2025-11-25, "Tool-Level Negotiation". */
const isTaskOnly = (tool: unknown): boolean =>
  isObject(tool) && isObject(tool.execution) && tool.execution.taskSupport === "required";

/** The tools of all pages, as the server describes them. @throws as `listTools`. */
export async function listRaw(client: Client, timeout: number): Promise<readonly unknown[]> {
  const { specTypeSchemas } = await import("@modelcontextprotocol/client");
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const request = { method: "tools/list", params: cursor === undefined ? {} : { cursor } };
    const result = await client.request(request, specTypeSchemas.PaginatedResult, { timeout });
    const listed = result[ALL_TOOLS] ?? result.tools;
    if (Array.isArray(listed)) tools.push(...listed);
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
  if (!issue) return "its x-mcp-header breaks MCP"; // The one thing that the client looks at beside the schema of a tool.
  const place = (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".");
  return `its ${place || "entry"} breaks MCP: ${issue.message}`;
}
