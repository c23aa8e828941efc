import type OpenAI from "openai";
import { isObject } from "../../core/json.ts";
import { mapSubschemas, type SchemaObject } from "../../core/schema/subschemas.ts";
import type { LlmLimits } from "../../core/set/manifest.ts";

/** The form and the limits of an answer. */
export interface AnswerForm {
  /** The service's id. */
  readonly name: string;
  readonly schema: SchemaObject;
  readonly limits: LlmLimits;
}

/** The parameters of chat completions that an endpoint accepts, which differ between endpoints. */
export interface Dialect {
  readonly format: "json_schema" | "json_object" | "text";
  /** Reasoning models refuse the older name; some endpoints ignore the newer one. A refusal is the safer failure. */
  readonly limit: "max_tokens" | "max_completion_tokens";
}

/** The strictest dialect, which is tried first. */
export const FIRST_DIALECT: Dialect = { format: "json_schema", limit: "max_tokens" };

type Parameters = Pick<OpenAI.ChatCompletionCreateParams, Dialect["limit"] | "response_format">;

/** The parameters for the form of the answer (OpenAI API reference, "Create chat completion"). */
export function toParameters({ format, limit }: Dialect, { name, schema, limits }: AnswerForm): Parameters {
  const strict = { name: name.replaceAll(".", "_"), strict: true, schema: toStrict(schema) };
  return {
    [limit]: limits.max_tokens,
    ...(format === "json_schema" && { response_format: { type: format, json_schema: strict } }),
    ...(format === "json_object" && { response_format: { type: format } }),
  };
}

/** The next dialect after an endpoint refused a request as malformed; undefined for other errors, or at the end. */
export function toPlainer(dialect: Dialect, error: unknown): Dialect | undefined {
  const { status, param } = isObject(error) ? error : {};
  if (status !== 400 && status !== 422) return undefined;
  if (param === "max_tokens" && dialect.limit === "max_tokens") return { ...dialect, limit: "max_completion_tokens" };
  if (dialect.format === "json_schema") return { ...dialect, format: "json_object" };
  if (dialect.format === "json_object") return { ...dialect, format: "text" };
  return undefined;
}

/** The keywords that every endpoint with structured outputs supports. */
const STRICT_KEYWORDS = new Set(["type", "description", "properties", "items", "enum", "const", "anyOf"]);

/**
 * The schema in the subset for strict structured outputs: every field required, no others allowed, and no bounds, whose
 * support differs between endpoints. The instructions contain the bounds, and the answer is checked by the whole
 * schema.
 */
function toStrict(schema: SchemaObject): SchemaObject {
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => STRICT_KEYWORDS.has(keyword)));
  const strict = mapSubschemas(kept, toStrict);
  if (!isObject(strict.properties)) return strict;
  return { ...strict, required: Object.keys(strict.properties), additionalProperties: false };
}
