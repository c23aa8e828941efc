import type { Transport } from "@modelcontextprotocol/client";
import { isObject } from "../../core/json.ts";
import { field } from "../call/http.ts";
import type { ToolResult } from "./results.ts";

/** Where a result is kept whole. It never leaves this process. */
const WHOLE = "payphone/whole";
/** What the client wants of the results of these methods, in every version. */
const LEAST: Readonly<Record<string, object>> = {
  "tools/call": { content: [] },
  "tools/list": { tools: [], ttlMs: 0, cacheScope: "private" },
};

/**
 * Lets the results of calls and lists through the client whole: it refuses a result that does not fit its schema in some
 * place, also one that was paid for. `wholeOf` gives them back.
 */
export function keepResults<T extends Transport>(transport: T): T {
  const asked = new Map<unknown, object>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const [sent] = [message].flat();
    const least = sent && "method" in sent && "id" in sent ? LEAST[sent.method] : undefined;
    if (least) asked.set((sent as { readonly id: unknown }).id, least);
    return send(message, options);
  };
  const heard = transport.onmessage;
  // The client sets its own listener later, which calls this one first.
  transport.onmessage = (message, extra) => {
    heard?.(message, extra);
    if ("method" in message) return;
    const least = asked.get(message.id);
    asked.delete(message.id);
    if (least && "result" in message && isWhole(message.result))
      Object.assign(message, { result: { resultType: "complete", ...least, _meta: { [WHOLE]: message.result } } });
  };
  return transport;
}

/** A result as the seller wrote it; as the client read it, where an older seller names a `resultType` of its own. */
export function wholeOf(result: ToolResult): ToolResult {
  const { resultType: _, ...whole } = (field(field(result, "_meta"), WHOLE) ?? result) as ToolResult;
  return whole;
}

/** Whether a result is one, and no question to the caller (MCP 2026-07-28, `resultType`). */
const isWhole = (result: unknown): boolean =>
  isObject(result) && [undefined, null, "complete"].includes(result.resultType as null);
