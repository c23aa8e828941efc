import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { JsonObject } from "../../core/json.ts";
import { toIssueText } from "../../core/schema/issues.ts";
import { findForeignFaults } from "../foreign-schema.ts";
import type { McpConnection } from "./connection.ts";
import type { ListedTool } from "./tool-list.ts";

/** The tools that are sold as their server no longer offers them: servers remove, rename and change tools. */
export interface ChangedTools {
  /**
   * Finds out whether a call failed because the server lacks the tool, or lists it with a schema that refuses the input. Asks
   * for its list only when `words`, the text of the failure, may say so. @returns the Problem; undefined for any other failure
   */
  explain(call: SentCall, words: string, session: McpConnection): Promise<Problem | undefined>;
  /** Before a payment. @throws Problem `unavailable` for such a call of a tool that has changed. */
  refuse(call: SentCall, session: McpConnection): Promise<void>;
}

export interface SentCall {
  readonly tool: string;
  readonly input: JsonObject;
}

interface Listed {
  /** Undefined when the list could not be read. */
  readonly tools: readonly ListedTool[] | undefined;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Failures that may be about a changed tool. Servers have no common code for them, so their list decides. */
const MAY_SAY_SO = /\btools?\b|method not found|valid|\b(?:argument|input|parameter|field|required)/i;
const LIST_MS = 5000;
/** The least time between two requests for the list. */
const PAUSE_MS = 10_000;
const RETRY_SECONDS = 60;

/** @param server whose tools they are */
export function createChangedTools(
  { id, title }: { readonly id: string; readonly title: string },
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): ChangedTools {
  const missing = new Set<string>();
  /** The schemas that have refused an input, as JSON, by the tool's name. */
  const changed = new Map<string, string>();
  let listed: Listed | undefined;

  return {
    async explain(call, words, session) {
      if (!MAY_SAY_SO.test(words) && !words.includes(call.tool)) return undefined;
      const why = await reasonAgainst(call, session);
      return why === undefined ? undefined : new Problem("upstream-failed", why);
    },
    async refuse(call, session) {
      if (!missing.has(call.tool) && !changed.has(call.tool)) return;
      const why = await reasonAgainst(call, session);
      if (why !== undefined) throw new Problem("unavailable", why, { retryAfter: RETRY_SECONDS });
    },
  };

  /** Why the server does not offer such a call; undefined when it does, or its list cannot be read. */
  async function reasonAgainst({ tool, input }: SentCall, session: McpConnection): Promise<string | undefined> {
    const tools = await list(session);
    if (!tools) return undefined;
    const found = tools.find(({ name }) => name === tool);
    if (found && missing.delete(tool)) log.info("mcp.tool-back", { upstream: id, tool });
    if (found) return faultOf(found, input);
    if (!missing.has(tool)) log.error("mcp.tool-missing", { upstream: id, tool });
    missing.add(tool);
    return `${title} no longer offers the tool`;
  }

  /** The service's own schema has let the input through. */
  function faultOf({ name: tool, inputSchema }: ListedTool, input: JsonObject): string | undefined {
    const reason = toIssueText(findForeignFaults(inputSchema, input, "body"));
    const schema = JSON.stringify(inputSchema);
    const isKnown = changed.get(tool) === schema;
    if (reason === "") {
      if (!isKnown) changed.delete(tool);
      return undefined;
    }
    if (!isKnown) log.error("mcp.tool-changed", { upstream: id, tool, reason });
    changed.set(tool, schema);
    return `${title}'s tool takes other input than this service: ${reason}`;
  }

  async function list(session: McpConnection): Promise<Listed["tools"]> {
    const age = clock.now() - (listed?.at ?? 0);
    if (age < 0 || age >= PAUSE_MS) {
      const tools = await session.callable?.(LIST_MS).catch(() => undefined);
      listed = { tools, at: clock.now() };
    }
    return listed?.tools;
  }
}
