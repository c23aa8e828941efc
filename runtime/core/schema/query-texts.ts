import type { ValidateFunction } from "ajv";
import { isDeep, tryParseJson, unescapeStep } from "../json.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Converts the texts of a query or a path to a schema's types. */
export interface TextConversion {
  /** Whether the schema names such a field. */
  readonly isField: (name: string) => boolean;
  /** Converts its argument in place, as far as it fits. */
  readonly convert: ValidateFunction;
}

/** How texts write booleans (pydantic v2), and how Ajv reads them. Python's `requests` sends `True`. */
const BOOLEANS: ReadonlyMap<string, string> = new Map([
  ...["true", "t", "yes", "y", "on", "1"].map((text) => [text, "true"] as const),
  ...["false", "f", "no", "n", "off", "0"].map((text) => [text, "false"] as const),
]);

/** A copy of texts, converted to the schema's types. A text that does not fit stays as it is. */
export function convertTexts(texts: Fields, { isField, convert }: TextConversion): Record<string, unknown> {
  const given = gatherParts(texts, isField);
  const copy: Record<string, unknown> = structuredClone(given);
  convert(copy);
  const faults = (convert.errors ?? []).map(({ instancePath, keyword }) => {
    return { path: instancePath.split("/").slice(1).map(unescapeStep), keyword };
  });
  for (const { path, keyword } of faults) {
    const [name = ""] = path;
    const read = keyword === "type" ? readJson(given[name]) : undefined;
    if (read !== undefined) copy[name] = Array.isArray(copy[name]) && !Array.isArray(read) ? [read] : read;
  }
  for (const { path } of faults) readBoolean(copy, path, convert);
  return copy;
}

/** A text, and the keys that lead to it within its field. */
interface Part {
  readonly keys: readonly string[];
  readonly text: unknown;
}

/** `name[key]`, with as many keys as a body may be deep. */
const PART = /^([^[]+)((?:\[[^[\]]*\]){1,64})$/;

/**
 * Puts the parts of a field together that are sent as `name[]`, `name[key]` or `name[0][key]`: so axios, PHP and clients
 * made from OpenAPI's `deepObject` send lists and mappings. Other names stay.
 */
function gatherParts(texts: Fields, isField: TextConversion["isField"]): Fields {
  const parts = new Map<string, Part[]>();
  for (const [name, text] of Object.entries(texts)) {
    const [, field = "", keys = ""] = PART.exec(name) ?? [];
    if (!isField(field) || isField(name)) continue;
    const whole = Object.hasOwn(texts, field) ? [{ keys: [""], text: texts[field] }] : [];
    const known: Part[] = parts.get(field) ?? whole;
    known.push({ keys: keys.slice(1, -1).split("]["), text });
    parts.set(field, known);
  }
  return parts.size === 0
    ? texts
    : { ...texts, ...Object.fromEntries([...parts].map(([name, all]) => [name, nest(all)])) };
}

/** A list where keys are numbers or empty, otherwise a mapping. */
function nest(parts: readonly Part[]): unknown {
  if (parts.some(({ keys }) => keys.length === 0)) {
    const texts = parts.flatMap(({ text }) => text);
    return texts.length === 1 ? texts[0] : texts;
  }
  const byKey = Map.groupBy(parts, ({ keys: [key = ""] }) => key);
  const inner = [...byKey].map(([key, all]) => {
    return [key, nest(all.map(({ keys, text }) => ({ keys: keys.slice(1), text })))] as const;
  });
  const isList = byKey.has("") || inner.every(([key]) => /^\d+$/.test(key));
  return isList ? inner.flatMap(([key, value]) => (key === "" ? value : [value])) : Object.fromEntries(inner);
}

/** Mappings, and lists in lists, are sent as JSON. @returns undefined for what is none of these */
function readJson(given: unknown): unknown {
  if (Array.isArray(given)) {
    const read = given.map(readJson);
    return read.every((one) => one === undefined) ? undefined : read.map((one, at) => one ?? given[at]);
  }
  const value = typeof given === "string" ? tryParseJson(given) : undefined;
  return typeof value === "object" && value !== null && !isDeep(value) ? value : undefined;
}

/** Reads the text at a path as a boolean, where the schema wants one there. */
function readBoolean(copy: Record<string, unknown>, path: readonly string[], convert: ValidateFunction): void {
  const [[name = ""], last = ""] = [path, path.at(-1)];
  const holder = partOf(copy, path.slice(0, -1));
  const text = holder?.[last];
  const written = typeof text === "string" ? BOOLEANS.get(text.toLowerCase()) : undefined;
  if (!holder || written === undefined) return;
  const alone = { [name]: structuredClone(copy[name]) };
  const inner = partOf(alone, path.slice(0, -1));
  if (inner) inner[last] = written;
  convert(alone);
  const made = partOf(alone, path.slice(0, -1))?.[last];
  if (typeof made === "boolean") holder[last] = made;
}

/** The part of a value at a path; undefined where there is no mapping and no list. */
const partOf = (value: unknown, path: readonly string[]): Record<string, unknown> | undefined =>
  path.reduce(step, value as Record<string, unknown> | undefined);

function step(part: Record<string, unknown> | undefined, name: string): Record<string, unknown> | undefined {
  const inner = part?.[name];
  return typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>) : undefined;
}
