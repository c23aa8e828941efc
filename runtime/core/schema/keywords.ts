import type { Options } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { isCollection, isObject } from "../json.ts";

/** A CommonJS module whose types declare a default export. */
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default;

/**
 * Options of every Ajv instance: all errors at once, each with its schema and data. Ajv's code optimizer is off: it
 * takes a third of the compile time and does not make the checks faster.
 */
export const OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  strict: true,
  allowUnionTypes: true,
  allowMatchingProperties: true,
  code: { optimize: false },
};

/** The longest text that is checked against a format; no format of JSON Schema needs more. */
const LONGEST_FORMATTED = 2048;

/**
 * Bounds Ajv's work on hostile values, since `allErrors` is on: texts above the limits are not matched against patterns
 * and formats, `uniqueItems` is not quadratic, and `const` and `enum` call no method of a value's. Adds `x-message`, which
 * replaces the message of a rule.
 */
export function addKeywords(ajv: Ajv2020): void {
  ajv.addVocabulary(["x-message"]);
  ajv.removeKeyword("$async"); // Ajv's own: the check would answer with a promise, and so call everything valid.
  ajv.removeKeyword("nullable"); // OpenAPI 3.0's: buyers whose schemas are JSON Schema would expect no null.
  ajv.removeKeyword("pattern").addKeyword({
    keyword: "pattern",
    type: "string",
    schemaType: "string",
    compile: (source: string, { maxLength = Number.POSITIVE_INFINITY }) => {
      const pattern = new RegExp(source, "u");
      // A character has one or two UTF-16 units. A text above this limit breaks `maxLength`, which is reported instead.
      return (text: string) => text.length > 2 * maxLength || pattern.test(text);
    },
  });
  ajv.removeKeyword("uniqueItems").addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    compile: (wanted: boolean) => (items: readonly unknown[]) =>
      !wanted || new Set(items.map(toSortedText)).size === items.length,
  });
  ajv.removeKeyword("const").addKeyword({ keyword: "const", compile: (only: unknown) => isAmong([only]) });
  ajv.removeKeyword("enum").addKeyword({ keyword: "enum", schemaType: "array", compile: isAmong });
  // "full", because "fast" accepts 2027-02-31 as a date. The text's length bounds the cost of the expressions.
  addFormats(ajv, { mode: "full" });
  for (const [name, format] of Object.entries(ajv.formats)) {
    const test = isObject(format) && "validate" in format ? format.validate : format;
    const isNumeric = isObject(format) && format.type === "number";
    if (test instanceof RegExp) ajv.formats[name] = bound((text) => test.test(text));
    else if (typeof test === "function" && !isNumeric) ajv.formats[name] = bound(test as (text: string) => boolean);
  }
}

/** Whether a value is one of the schema's. Ajv's own comparison calls `valueOf` and `toString`, which a sender can set. */
function isAmong(members: readonly unknown[]): (value: unknown) => boolean {
  if (members.length === 0) throw new Error("enum must have non-empty array");
  const plain = new Set(members);
  const parts = members.filter(isCollection);
  return (value) => plain.has(value) || (isCollection(value) && parts.some((part) => isSame(part, value)));
}

function isSame(one: unknown, other: unknown): boolean {
  if (!isCollection(one) || !isCollection(other)) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every(
    (name) => Object.hasOwn(other, name) && isSame(one[name as keyof typeof one], other[name as keyof typeof other]),
  );
}

const bound = (isValid: (text: string) => boolean) => (text: string) =>
  text.length <= LONGEST_FORMATTED && isValid(text);

/** A text that is equal for equal JSON values, whatever the order of their fields. */
const toSortedText = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (isObject(part) ? Object.fromEntries(Object.entries(part).sort(byName)) : part));

const byName = ([one]: [string, unknown], [other]: [string, unknown]): number => (one < other ? -1 : 1);
