import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { McpConnection } from "./connection.ts";

/** The tools that are sold although their server no longer offers them: servers remove and rename tools. */
export interface MissingTools {
  /**
   * Finds out whether a call failed because the server lacks the tool. Asks for its list only when `words`, the text of the
   * failure, may say so. @returns the Problem; undefined for any other failure
   */
  explain(tool: string, words: string, session: McpConnection): Promise<Problem | undefined>;
  /** Before a payment. @throws Problem `unavailable` for a tool that was missing, and that the list still lacks. */
  refuse(tool: string, session: McpConnection): Promise<void>;
}

interface Listed {
  /** Undefined when the list could not be read. */
  readonly names: readonly string[] | undefined;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Failures that may be about a missing tool. Servers have no common code for it, so their list decides. */
const MAY_SAY_SO = /\btools?\b|method not found/i;
const LIST_MS = 5000;
/** The least time between two requests for the list. */
const PAUSE_MS = 10_000;
const RETRY_SECONDS = 60;

/** @param server whose tools they are */
export function createMissingTools(
  { id, title }: { readonly id: string; readonly title: string },
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): MissingTools {
  const missing = new Set<string>();
  let listed: Listed | undefined;
  const why = `${title} no longer offers the tool`;

  return {
    async explain(tool, words, session) {
      if (!MAY_SAY_SO.test(words) && !words.includes(tool)) return undefined;
      return (await isMissing(tool, session)) ? new Problem("upstream-failed", why) : undefined;
    },
    async refuse(tool, session) {
      if (missing.has(tool) && (await isMissing(tool, session)))
        throw new Problem("unavailable", why, { retryAfter: RETRY_SECONDS });
    },
  };

  async function isMissing(tool: string, session: McpConnection): Promise<boolean> {
    const age = clock.now() - (listed?.at ?? 0);
    if (age < 0 || age >= PAUSE_MS) {
      const names = await session.names?.(LIST_MS).catch(() => undefined);
      listed = { names, at: clock.now() };
    }
    if (!listed?.names) return false;
    const isOffered = listed.names.includes(tool);
    if (isOffered && missing.delete(tool)) log.info("mcp.tool-back", { upstream: id, tool });
    if (!isOffered && !missing.has(tool)) log.error("mcp.tool-missing", { upstream: id, tool });
    if (!isOffered) missing.add(tool);
    return !isOffered;
  }
}
