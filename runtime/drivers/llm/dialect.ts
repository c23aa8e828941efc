import type OpenAI from "openai";
import { isObject } from "../../core/json.ts";
import { mapSubschemas, type SchemaObject } from "../../core/schema/subschemas.ts";
import type { LlmLimits } from "../../core/set/manifest.ts";

/** What an answer must look like, and how long it may be. */
export interface AnswerForm {
  /** The service's id. */
  readonly name: string;
  readonly schema: SchemaObject;
  readonly limits: LlmLimits;
}

/** Which of the parameters of chat completions an endpoint takes: they all differ a little. */
export interface Dialect {
  readonly format: "json_schema" | "json_object" | "text";
  /** The older word is refused by reasoning models, and the newer one ignored by some endpoints: the refusal is the safer failure. */
  readonly limit: "max_tokens" | "max_completion_tokens";
}

/** The strictest one, which an endpoint is asked in first. */
export const FIRST_DIALECT: Dialect = { format: "json_schema", limit: "max_tokens" };

type Parameters = Pick<OpenAI.ChatCompletionCreateParams, Dialect["limit"] | "response_format">;

/** The parameters that say how to answer (OpenAI API reference, "Create chat completion"). */
export function toParameters({ format, limit }: Dialect, { name, schema, limits }: AnswerForm): Parameters {
  const strict = { name: name.replaceAll(".", "_"), strict: true, schema: toStrict(schema) };
  return {
    [limit]: limits.max_tokens,
    ...(format === "json_schema" && { response_format: { type: format, json_schema: strict } }),
    ...(format === "json_object" && { response_format: { type: format } }),
  };
}

/** What to try when an endpoint refuses a request as malformed; undefined when nothing plainer is left, or it was no such refusal. */
export function toPlainer(dialect: Dialect, error: unknown): Dialect | undefined {
  const { status, param } = isObject(error) ? error : {};
  if (status !== 400 && status !== 422) return undefined;
  if (param === "max_tokens" && dialect.limit === "max_tokens") return { ...dialect, limit: "max_completion_tokens" };
  if (dialect.format === "json_schema") return { ...dialect, format: "json_object" };
  if (dialect.format === "json_object") return { ...dialect, format: "text" };
  return undefined;
}

/** What every endpoint with structured outputs understands. */
const STRICT_KEYWORDS = new Set(["type", "description", "properties", "items", "enum", "const", "anyOf"]);

/**
 * The schema in the subset that strict structured outputs take: every field required, no others allowed, and no bounds,
 * which differ between endpoints. The bounds stand in the instructions, and the whole schema is held against the answer.
 */
function toStrict(schema: SchemaObject): SchemaObject {
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => STRICT_KEYWORDS.has(keyword)));
  const strict = mapSubschemas(kept, toStrict);
  if (!isObject(strict.properties)) return strict;
  return { ...strict, required: Object.keys(strict.properties), additionalProperties: false };
}
