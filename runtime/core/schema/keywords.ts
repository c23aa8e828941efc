import type { Options } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { isObject } from "../json.ts";

/** ajv-formats is a CommonJS module whose types say otherwise. */
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default;

/**
 * All errors at once, each with the schema and the data that it is about. V8 makes as much of the code that Ajv writes
 * whether Ajv has optimized it or not, and optimizing takes a third of the time that compiling does.
 */
export const OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  strict: true,
  allowUnionTypes: true,
  code: { optimize: false },
};

/** No format of JSON Schema has longer texts. */
const LONGEST_FORMATTED = 2048;

/**
 * Teaches Ajv to keep its work bounded on hostile values even when it looks for every fault: a text that is too long
 * meets no pattern and no format, and `uniqueItems` is not quadratic. `x-message` gives a rule its sentence.
 */
export function addKeywords(ajv: Ajv2020): void {
  ajv.addVocabulary(["x-message"]);
  ajv.removeKeyword("pattern").addKeyword({
    keyword: "pattern",
    type: "string",
    schemaType: "string",
    compile: (source: string, { maxLength = Number.POSITIVE_INFINITY }) => {
      const pattern = new RegExp(source, "u");
      // A character is one or two units: what is longer than this is too long in any case, and is reported as that.
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
  addFormats(ajv);
  for (const [name, format] of Object.entries(ajv.formats)) {
    const test = isObject(format) && "validate" in format ? format.validate : format;
    const isNumeric = isObject(format) && format.type === "number";
    if (test instanceof RegExp) ajv.formats[name] = bound((text) => test.test(text));
    else if (typeof test === "function" && !isNumeric) ajv.formats[name] = bound(test as (text: string) => boolean);
  }
}

const bound = (isValid: (text: string) => boolean) => (text: string) =>
  text.length <= LONGEST_FORMATTED && isValid(text);

/** Equal for equal JSON values, whatever the order of their fields. */
const toSortedText = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (isObject(part) ? Object.fromEntries(Object.entries(part).sort()) : part));
