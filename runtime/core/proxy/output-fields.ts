import { isCollection, isObject, type JsonObject } from "../json.ts";
import { namedFields } from "../schema/named-fields.ts";
import type { Schema } from "../schema/validator.ts";
import type { AnswerTerms } from "./answer.ts";

/** The fields that a service's output names where the upstream's answer stands. */
export interface OutputFields {
  readonly names: ReadonlySet<string>;
  /**
   * Whether nothing is left of an answer, or of each mapping of a list in it, because the output names none of its fields:
   * unnamed ones are dropped, and where no field is required, `{ "error": … }` would be sold as `{}`.
   * @param checked the answer after its check
   */
  isStrange(answer: unknown, checked: unknown): boolean;
}

export function readOutputFields(
  { document, nodes }: Pick<Schema, "document" | "nodes">,
  { wrap }: AnswerTerms = {},
): OutputFields {
  const outer = namedFields([document], nodes.resolve);
  const inner = outer.flatMap(([name, schema]) => (name === wrap ? [schema] : []));
  const fields = wrap === undefined ? outer : namedFields(inner, nodes.resolve);
  const names = new Set(fields.map(([name]) => name));
  const namesIn = (output: unknown): readonly string[] | undefined => {
    const value = wrap !== undefined && isObject(output) ? output[wrap] : output;
    return isObject(value) ? Object.keys(value).filter((name) => name !== AGE) : undefined;
  };
  return {
    names,
    isStrange(answer, checked) {
      const [given = [], left] = [namesIn(answer), namesIn(checked)];
      const isEmptied = given.length > 0 && left?.length === 0;
      if (isEmptied && names.size === 0) return false; // An output that names nothing sells that the call was made.
      const isUnnamed = isEmptied && !given.some((name) => names.has(name));
      return isUnnamed || hasEmptiedList(answer, checked) || (hasValue(answer) && !keepsAny(answer, checked));
    },
  };
}

/** The field that tells how old a cached answer is. */
const AGE = "age_seconds";

/** Whether there is a text, a number or a boolean in a value. */
function hasValue(value: unknown): boolean {
  const waiting = [value]; // An answer may be nested deeper than calls can be.
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (isCollection(next)) for (const part of Object.values(next)) waiting.push(part);
    else if (next !== null && next !== undefined) return true;
  }
  return false;
}

/** Whether a value, or an empty list, of an answer is left. A `null` counts as left, since it may mean absent. */
function keepsAny(given: unknown, left: unknown): boolean {
  if (given === null) return true;
  if (left === undefined || typeof given !== "object") return left !== undefined;
  if (Array.isArray(given)) return given.length === 0 || given.some((one, at) => keepsAny(one, partOf(left, at)));
  return Object.entries(given).some(([name, one]) => keepsAny(one, partOf(left, name)));
}

/** Whether a list has mappings with fields, none of which are left in any of them. */
function hasEmptiedList(given: unknown, left: unknown): boolean {
  if (!isCollection(given) || !isCollection(left)) return false;
  const parts = Object.entries(given).map(([key, one]) => [one, partOf(left, key)] as const);
  const full = parts.filter(([one]) => isObject(one) && isFull(one));
  const isEmptied = full.length > 0 && full.every(([, one]) => isObject(one) && Object.keys(one).length === 0);
  return (Array.isArray(given) && isEmptied) || parts.some(([one, kept]) => hasEmptiedList(one, kept));
}

/** Whether a mapping has fields, and each has a value: a `null` may be one that is named, and means absent. */
const isFull = (value: JsonObject): boolean => Object.keys(value).length > 0 && !Object.values(value).includes(null);

const partOf = (value: unknown, key: string | number): unknown =>
  isCollection(value) && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string | number, unknown>>)[key]
    : undefined;
