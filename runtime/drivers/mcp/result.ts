import type { CallToolResult } from "@modelcontextprotocol/client";
import { Problem } from "../../api/problem.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import { toLine } from "../../core/proxy/message.ts";

/**
 * The possible outputs of a tool's result: its structured content, if any, and its content blocks.
 * @throws Problem `unparseable-input` with the tool's own words when the call failed (`isError`).
 */
export function toToolOutputs(result: CallToolResult, title: string): readonly JsonObject[] {
  const { isError, structuredContent, content = [] } = result;
  if (isError === true) throw new Problem("unparseable-input", `${title}: ${toWords(content)}`);
  if (structuredContent === undefined) return [{ content }];
  const whole = { content, structured: structuredContent };
  return isObject(structuredContent) ? [structuredContent, whole] : [whole, { content }];
}

/** The first text of a failure. */
function toWords(content: CallToolResult["content"] | undefined): string {
  const texts = (content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : []));
  return toLine(texts[0] ?? "") ?? "the tool failed";
}
