import type { Transport } from "@modelcontextprotocol/client";
import { isDeep, isObject, tryParseJson } from "../../core/json.ts";

/**
 * Removes members that are null from each result. Some servers write null for absent members, and for one of these the
 * client refuses the whole result, such as a list of tools.
 */
export function dropNulls<T extends Transport>(transport: T): T {
  const heard = transport.onmessage;
  // The client sets its own listener later, which calls this one first.
  transport.onmessage = (message, extra) => {
    heard?.(message, extra);
    if ("result" in message && isObject(message.result))
      Object.assign(message, { result: withoutNulls(message.result) });
  };
  return transport;
}

/** An object of MCP, or each of a list, without members that are null. Data within members stays as it is. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(
    members.map(([name, member]) => [name, OF_MCP.includes(name) ? withoutNulls(member) : member]),
  );
}

/** What may be a member for which the client refuses a whole message. */
const ODD = /"_meta"\s*:\s*[^\s{]|"(?:error|result)"\s*:\s*null/;

/**
 * The JSON of an answer without what makes the client refuse the whole message before it hears it: `"error": null` beside a
 * result, a result that is null beside an error, and a result's `_meta` that is no object.
 */
export function toAccepted(json: string): string {
  const message = ODD.test(json) ? tryParseJson(json) : undefined;
  if (!isObject(message) || isDeep(message)) return json;
  const { error, result, ...rest } = message;
  if (!isObject(result)) return JSON.stringify({ ...rest, ...(result != null && { result }), error });
  const { _meta, ...whole } = result;
  return JSON.stringify({ ...rest, result: isObject(_meta) ? result : whole, ...(error != null && { error }) });
}

/** The members that hold objects of MCP: of results, of tools, of content blocks, and of a server's capabilities. */
const OF_MCP: readonly string[] = ["tools", "content", "annotations", "resource", "serverInfo", "capabilities"];
