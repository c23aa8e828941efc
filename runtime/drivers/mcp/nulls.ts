import type { Transport } from "@modelcontextprotocol/client";
import { isObject } from "../../core/json.ts";

/**
 * Takes out of each result the members that are null, as servers write them for what they do not say: the client refuses a
 * result, and a list with all of its tools, for one of them.
 */
export function dropNulls<T extends Transport>(transport: T): T {
  const heard = transport.onmessage;
  // The client sets its own listener later, which calls this one first.
  transport.onmessage = (message, extra) => {
    heard?.(message, extra);
    if ("result" in message && isObject(message.result)) Object.assign(message, { result: toPlain(message.result) });
  };
  return transport;
}

/** A result, and the tools or the content blocks in it, without members that are null. */
export function toPlain(result: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const lists = ["content", "tools"].flatMap((name) => (Array.isArray(result[name]) ? [[name, result[name]]] : []));
  const plain = lists.map(([name, parts]) => [name, (parts as readonly unknown[]).map(withoutNulls)]);
  return { ...withoutNulls(result), ...Object.fromEntries(plain) };
}

/** An object of MCP without members that are null; what its members hold is its author's own. */
function withoutNulls<T>(value: T): T {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  const inner = members.map(([name, member]) => [name, OF_MCP.includes(name) ? withoutNulls(member) : member]);
  return Object.fromEntries(inner) as T;
}

/** The members of tools and content blocks that are objects of MCP. */
const OF_MCP: readonly string[] = ["annotations", "resource"];
