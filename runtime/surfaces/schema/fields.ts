import { withNoun } from "../../api/text.ts";
import { isObject, type JsonObject } from "../../core/json.ts";

/** One field of a schema, described for people. */
export interface DescribedField {
  /** Its path: `base.tx`, `errors[].source`. */
  readonly name: string;
  /** `string or null`, `list of integer`. */
  readonly type: string;
  readonly isRequired: boolean;
  /** `1 to 100`, `default 1`, `one of a, b`. */
  readonly rules: readonly string[];
  readonly description: string;
}

/** Fields below this depth are described only by their parents' types. */
const DEEPEST = 3;

/** The fields of an object's self-contained schema; fields of nested objects and lists follow their parents. */
export function toFields(schema: JsonObject, prefix = ""): DescribedField[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(isObject(schema.properties) ? schema.properties : {}).flatMap(([key, given]) => {
    const field = isObject(given) ? given : {};
    const name = prefix + key;
    const { inner, suffix } = innerOf(field);
    const nested = name.split(".").length < DEEPEST ? toFields(inner, `${name}${suffix}.`) : [];
    const { description } = { ...inner, ...field };
    return [
      {
        name,
        type: typeOf(field),
        isRequired: required.includes(key),
        rules: rulesOf({ ...inner, ...field }),
        description: typeof description === "string" ? description : "",
      },
      ...nested,
    ];
  });
}

/** The schema whose fields are nested in a field: its own, its items', or its only branch besides `null`. */
function innerOf(field: JsonObject): { inner: JsonObject; suffix: string } {
  if (isObject(field.items)) return { inner: innerOf(field.items).inner, suffix: "[]" };
  const branches = branchesOf(field);
  const [only] = branches;
  return branches.length === 1 && only ? innerOf(only) : { inner: field, suffix: "" };
}

/** The alternatives of a field, without null. */
const branchesOf = ({ anyOf, oneOf }: JsonObject): JsonObject[] =>
  [anyOf, oneOf].flatMap((list) =>
    Array.isArray(list) ? list.filter((one) => isObject(one) && one.type !== "null") : [],
  );

function typeOf(field: JsonObject): string {
  const { type, anyOf, oneOf, items, enum: values } = field;
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches)) return [...new Set(branches.map(typeOf))].join(" or ");
  if (type === "array") return isObject(items) && items.type !== undefined ? `list of ${typeOf(items)}` : "list";
  if (type !== undefined) return [type].flat().join(" or ");
  if (field.const !== undefined) return typeof field.const;
  return Array.isArray(values)
    ? [...new Set(values.map((value) => (value === null ? "null" : typeof value)))].join(" or ")
    : "any JSON";
}

function rulesOf(field: JsonObject): string[] {
  const { enum: values, const: only, default: usual, pattern, format, multipleOf } = field;
  return [
    Array.isArray(values) && `one of ${values.filter((value) => value !== null).join(", ")}`,
    only !== undefined && `always ${String(only)}`,
    rangeOf(field.minimum, field.maximum, ""),
    typeof field.exclusiveMinimum === "number" && `more than ${field.exclusiveMinimum}`,
    typeof field.exclusiveMaximum === "number" && `less than ${field.exclusiveMaximum}`,
    typeof multipleOf === "number" && `a multiple of ${multipleOf}`,
    rangeOf(field.minLength, field.maxLength, "character"),
    rangeOf(field.minItems, field.maxItems, "item"),
    typeof format === "string" && `format ${format}`,
    typeof pattern === "string" && `matches ${pattern}`,
    usual !== undefined && usual !== null && `default ${JSON.stringify(usual)}`,
  ].filter((rule) => typeof rule === "string");
}

/** @param noun what is counted, in the singular; empty where a number itself is bounded */
function rangeOf(least: unknown, most: unknown, noun: string): string | undefined {
  const isBound = (value: unknown): value is number =>
    typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  const [low, high] = [isBound(least) ? least : undefined, isBound(most) ? most : undefined];
  const count = (amount: number): string => (noun === "" ? `${amount}` : withNoun(amount, noun));
  if (low !== undefined && low === high) return `exactly ${count(low)}`;
  if (low !== undefined && high !== undefined) return `${low} to ${count(high)}`;
  if (low !== undefined) return `at least ${count(low)}`;
  return high === undefined ? undefined : `at most ${count(high)}`;
}
