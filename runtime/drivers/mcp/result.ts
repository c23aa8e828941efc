import type { CallToolResult } from "@modelcontextprotocol/client";
import { Problem } from "../../api/problem.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { AnswerTerms } from "../../core/proxy/answer.ts";
import { messageIn, toLine } from "../../core/proxy/message.ts";
import type { OutputFields } from "../../core/proxy/output-fields.ts";

/**
 * The possible outputs of a tool's result: its structured content, if any, and its content blocks.
 * @param hasBlocks whether the output can be content blocks
 * @throws Problem `unparseable-input` with the tool's own words when the call failed (`isError`).
 */
export function toToolOutputs(result: CallToolResult, title: string, hasBlocks: boolean): readonly JsonObject[] {
  const { isError, structuredContent, content = [] } = result;
  if (isError === true) throw new Problem("unparseable-input", `${title}: ${toWords(content, structuredContent)}`);
  const given = isObject(structuredContent) ? [structuredContent] : [];
  if (!hasBlocks) return given;
  if (structuredContent === undefined) return [{ content }];
  const whole = { content, structured: structuredContent };
  return given.length > 0 ? [...given, whole] : [whole, { content }];
}

/** The bytes of the files among a result's content blocks: pictures, sounds, resources. */
export const filesIn = ({ content = [] }: CallToolResult): readonly Uint8Array[] =>
  content.flatMap((block) => {
    const { data, blob } = (block.type === "resource" ? block.resource : block) as { data?: unknown; blob?: unknown };
    return [data, blob].flatMap((one) => (typeof one === "string" ? [Buffer.from(one, "base64")] : []));
  });

/** The first text of a failure, or the message in its data. */
function toWords(content: CallToolResult["content"] | undefined, data: unknown): string {
  const texts = (content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : []));
  return toLine(texts[0] ?? "") ?? messageIn(data) ?? "the tool failed";
}

/**
 * Whether a service's output can be content blocks: it names no fields, or theirs. Any other output is structured content,
 * and blocks would be a way around its schema.
 */
export const takesBlocks = ({ names }: OutputFields, { pick, rename = {} }: AnswerTerms = {}): boolean =>
  pick !== undefined || names.size === 0 || names.has(rename.content ?? "content");
