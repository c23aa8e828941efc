import type { ErrorObject } from "ajv";
import type { ValidationIssue } from "../../api/problem.ts";
import { withNoun } from "../../api/text.ts";
import { isObject } from "../json.ts";

/** An issue without its `loc` and `input`. */
export type IssueText = Pick<ValidationIssue, "type" | "msg" | "ctx">;

/** A fault for which pydantic has no type. */
export const valueError = (sentence: string): IssueText => ({
  type: "value_error",
  msg: `Value error, ${sentence}`,
  ctx: { error: sentence },
});

/**
 * An error of Ajv in the vocabulary of pydantic v2. A value that matches none of several types has one issue per type.
 * @param isText whether the value is a text of a query or path that could not be converted.
 */
export function toIssueTexts(error: ErrorObject, isText: boolean): readonly IssueText[] {
  if (error.keyword === "type") return toTypeTexts(error, isText);
  const toText = TEXTS.get(error.keyword);
  return [toText ? toText(error) : valueError(toSentence(error))];
}

const EXTRA: IssueText = { type: "extra_forbidden", msg: "Extra inputs are not permitted" };

/** Keyed by keyword; `schema` is the keyword's value. */
const TEXTS = new Map<string, (error: ErrorObject) => IssueText>([
  ["enum", ({ schema }) => toLiteralText(schema as unknown[])],
  ["const", ({ schema }) => toLiteralText([schema])],
  ["minLength", ({ schema }) => toLengthText("short", schema as number)],
  ["maxLength", ({ schema }) => toLengthText("long", schema as number)],
  [
    "pattern",
    ({ schema }) =>
      issueText("string_pattern_mismatch", `String should match pattern '${schema}'`, { pattern: schema }),
  ],
  ["minimum", toBoundText("greater_than_equal", "greater than or equal to", "ge")],
  ["maximum", toBoundText("less_than_equal", "less than or equal to", "le")],
  ["exclusiveMinimum", toBoundText("greater_than", "greater than", "gt")],
  ["exclusiveMaximum", toBoundText("less_than", "less than", "lt")],
  ["multipleOf", toBoundText("multiple_of", "a multiple of", "multiple_of")],
  ["minItems", ({ schema, data }) => toSizeText("List", "short", schema as number, data as unknown[])],
  ["maxItems", ({ schema, data }) => toSizeText("List", "long", schema as number, data as unknown[])],
  [
    "minProperties",
    ({ schema, data }) => toSizeText("Dictionary", "short", schema as number, Object.keys(data as object)),
  ],
  [
    "maxProperties",
    ({ schema, data }) => toSizeText("Dictionary", "long", schema as number, Object.keys(data as object)),
  ],
  ["required", () => ({ type: "missing", msg: "Field required" })],
  ["additionalProperties", () => EXTRA],
  ["unevaluatedProperties", () => EXTRA],
  ["false schema", () => EXTRA],
  ["format", ({ schema }) => toFormatText(schema as string)],
]);

function issueText(type: string, msg: string, ctx: Readonly<Record<string, unknown>>): IssueText {
  return { type, msg, ctx };
}

function toBoundText(type: string, words: string, key: string): (error: ErrorObject) => IssueText {
  return ({ schema }) => issueText(type, `Input should be ${words} ${schema}`, { [key]: schema });
}

function toLengthText(size: "short" | "long", limit: number): IssueText {
  const [least, key] = size === "short" ? ["least", "min_length"] : ["most", "max_length"];
  return issueText(`string_too_${size}`, `String should have at ${least} ${withNoun(limit, "character")}`, {
    [key]: limit,
  });
}

function toSizeText(
  kind: "List" | "Dictionary",
  size: "short" | "long",
  limit: number,
  { length }: readonly unknown[],
): IssueText {
  const [least, key] = size === "short" ? ["least", "min_length"] : ["most", "max_length"];
  const msg = `${kind} should have at ${least} ${withNoun(limit, "item")} after validation, not ${length}`;
  return issueText(`too_${size}`, msg, { field_type: kind, [key]: limit, actual_length: length });
}

const NO_INTEGER = "Input should be a valid integer";
const NO_NUMBER = "Input should be a valid number";
const NO_BOOLEAN = "Input should be a valid boolean";

/** Keyed by type: the issue for a JSON value, and the issue for a text that could not be converted. */
const TYPES: Readonly<Record<string, readonly [ours: IssueText, forTexts?: IssueText]>> = {
  string: [{ type: "string_type", msg: "Input should be a valid string" }],
  integer: [
    { type: "int_type", msg: NO_INTEGER },
    { type: "int_parsing", msg: `${NO_INTEGER}, unable to parse string as an integer` },
  ],
  number: [
    { type: "float_type", msg: NO_NUMBER },
    { type: "float_parsing", msg: `${NO_NUMBER}, unable to parse string as a number` },
  ],
  boolean: [
    { type: "bool_type", msg: NO_BOOLEAN },
    { type: "bool_parsing", msg: `${NO_BOOLEAN}, unable to interpret input` },
  ],
  array: [{ type: "list_type", msg: "Input should be a valid list" }],
  null: [{ type: "none_required", msg: "Input should be None" }],
  object: [{ type: "dict_type", msg: "Input should be a valid dictionary" }],
};
const NO_MODEL: IssueText = {
  type: "model_attributes_type",
  msg: "Input should be a valid dictionary or object to extract fields from",
};
const FRACTION: IssueText = { type: "int_from_float", msg: `${NO_INTEGER}, got a number with a fractional part` };

function toTypeTexts({ schema, parentSchema, data }: ErrorObject, isText: boolean): IssueText[] {
  const types = [schema].flat() as string[];
  const due = types.filter((type) => type !== "null" || types.length === 1);
  return due.map((type) => {
    const [ours, forTexts] = TYPES[type] ?? [valueError(`must be of type ${type}`)];
    if (type === "integer" && typeof data === "number") return FRACTION;
    if (type === "object" && isObject(parentSchema?.properties)) return NO_MODEL;
    return (isText && typeof data === "string" && forTexts) || ours;
  });
}

function toLiteralText(values: readonly unknown[]): IssueText {
  const shown = values.filter((value) => value !== null || values.length === 1).map(toPython);
  const last = shown.at(-1) ?? "";
  const expected = shown.length > 1 ? `${shown.slice(0, -1).join(", ")} or ${last}` : last;
  return issueText("literal_error", `Input should be ${expected}`, { expected });
}

/** The value in the form of Python's `repr`. */
function toPython(value: unknown): string {
  if (typeof value === "string") return value.includes("'") ? JSON.stringify(value) : `'${value}'`;
  if (typeof value === "boolean") return value ? "True" : "False";
  return value === null ? "None" : JSON.stringify(value);
}

/** Formats that pydantic has a type for, each with a valid example. */
const FORMATS: Readonly<Record<string, readonly [type: string, what: string, error: string]>> = {
  "date-time": ["datetime_parsing", "a valid datetime", "write it as in 2027-01-31T12:00:00Z"],
  date: ["date_parsing", "a valid date in the format YYYY-MM-DD", "write it as in 2027-01-31"],
  time: ["time_parsing", "in a valid time format", "write it as in 12:00:00Z"],
  duration: ["time_delta_parsing", "a valid timedelta", "write it as in P1DT2H"],
  uuid: ["uuid_parsing", "a valid UUID", "write it as in 123e4567-e89b-42d3-a456-426614174000"],
  uri: ["url_parsing", "a valid URL", "write it as in https://example.com/path"],
};

function toFormatText(format: string): IssueText {
  const known = FORMATS[format];
  if (!known) return valueError(`must be a valid ${format}`);
  const [type, what, error] = known;
  return issueText(type, `Input should be ${what}, ${error}`, { error });
}

function toSentence({ keyword, params }: ErrorObject): string {
  if (keyword === "dependentRequired") return `${params.missingProperty} must be given with ${params.property}`;
  if (keyword === "uniqueItems") return "no two items may be equal";
  if (keyword === "contains") return "an item is missing that must be there";
  return "this form is not allowed";
}
