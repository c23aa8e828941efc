import type { Service } from "../../core/service.ts";
import { toCost } from "../rpc/cost.ts";
import type { A2aDialect } from "./methods.ts";

/**
 * The answer to a message in free text: a message that lists the skills and explains how to call one (A2A 1.0, section
 * 3.1.1).
 */
export function toIntroduction(services: Iterable<Service>, dialect: A2aDialect, contextId: string): object {
  const lines = [...services].map(({ manifest }) => `- ${manifest.id}: ${manifest.title}. ${toCost(manifest)}`);
  const text = [
    'These are my skills. Ask for one with a data part {"skill": "…", "input": {…}}, or with a text: the skill\'s id, and its',
    "input as JSON behind it. The agent card describes each, with examples.",
    ...lines,
  ].join("\n");
  const head = { messageId: crypto.randomUUID(), contextId };
  return dialect === "1.0"
    ? { message: { ...head, role: "ROLE_AGENT", parts: [{ text }] } }
    : { kind: "message", ...head, role: "agent", parts: [{ kind: "text", text }] };
}
