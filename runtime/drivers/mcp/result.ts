import type { CallToolResult } from "@modelcontextprotocol/client";
import { Problem } from "../../api/problem.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { AnswerTerms } from "../../core/proxy/answer.ts";
import { toLine } from "../../core/proxy/message.ts";
import { listOf } from "../../core/schema/nodes.ts";
import type { Schema } from "../../core/schema/validator.ts";

/**
 * The possible outputs of a tool's result: its structured content, if any, and its content blocks.
 * @param hasBlocks whether the output can be content blocks
 * @throws Problem `unparseable-input` with the tool's own words when the call failed (`isError`).
 */
export function toToolOutputs(result: CallToolResult, title: string, hasBlocks: boolean): readonly JsonObject[] {
  const { isError, structuredContent, content = [] } = result;
  if (isError === true) throw new Problem("unparseable-input", `${title}: ${toWords(content)}`);
  const given = isObject(structuredContent) ? [structuredContent] : [];
  if (!hasBlocks) return given;
  if (structuredContent === undefined) return [{ content }];
  const whole = { content, structured: structuredContent };
  return given.length > 0 ? [...given, whole] : [whole, { content }];
}

/** The first text of a failure. */
function toWords(content: CallToolResult["content"] | undefined): string {
  const texts = (content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : []));
  return toLine(texts[0] ?? "") ?? "the tool failed";
}

/**
 * Whether a service's output can be content blocks: it names no fields, or theirs. In any other output, whose fields may all
 * be optional, blocks would only be dropped: an empty answer would fit.
 */
export function takesBlocks(
  { document, nodes }: Pick<Schema, "document" | "nodes">,
  answer: AnswerTerms = {},
): boolean {
  const { pick, rename = {}, wrap } = answer;
  if (pick !== undefined) return true;
  const fieldsOf = (schemas: readonly unknown[]): readonly (readonly [string, unknown])[] =>
    [...appliedTo(schemas, nodes)].flatMap(({ properties }) =>
      isObject(properties) ? Object.entries(properties) : [],
    );
  const outer = fieldsOf([document]);
  const inner = outer.flatMap(([name, schema]) => (name === wrap ? [schema] : []));
  const fields = wrap === undefined ? outer : fieldsOf(inner);
  return fields.length === 0 || fields.some(([name]) => name === (rename.content ?? "content"));
}

/** These schemas of one value, and all that they apply to it. */
function appliedTo(schemas: readonly unknown[], nodes: Schema["nodes"]): ReadonlySet<JsonObject> {
  const found = new Set<JsonObject>();
  const add = (schema: unknown): void => {
    if (!isObject(schema) || found.has(schema)) return;
    found.add(schema);
    if ("$ref" in schema) add(nodes.resolve(schema));
    [schema.allOf, schema.anyOf, schema.oneOf].flatMap(listOf).forEach(add);
  };
  schemas.forEach(add);
  return found;
}
