import type { ValidateFunction } from "ajv";
import { isCollection, isDeep, tryParseJson, unescapeStep } from "../json.ts";

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
export function convertTexts(
  texts: Fields,
  conversion: TextConversion,
  mappings: ReadonlySet<string> = new Set(),
): Record<string, unknown> {
  const { isField, convert } = conversion;
  const given = gatherParts(texts, isField, mappings);
  const copy: Record<string, unknown> = structuredClone(given);
  convert(copy);
  const faults = convert.errors ?? [];
  const paths = faults.map(({ instancePath }) => instancePath.split("/").slice(1).map(unescapeStep));
  const unfit = paths.filter((_, at) => faults[at]?.keyword === "type");
  const lists = unfit.flatMap(([name = "", ...inner]) =>
    inner.length === 0 && Array.isArray(given[name]) ? name : [],
  );
  // Where no list is wanted, `rates[1]=5` is a mapping with a number for its key.
  if (given !== texts && mappings.size === 0 && lists.length > 0)
    return convertTexts(texts, conversion, new Set(lists));
  for (const name of new Set(unfit.map(([name = ""]) => name))) {
    const read = readJson(given[name]);
    if (read !== undefined) copy[name] = Array.isArray(copy[name]) && !Array.isArray(read) ? [read] : read;
  }
  readBooleans(copy, paths, convert);
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
 * Joins the parts of lists and mappings that are sent as `name[]`, `name[key]` or `name[0][key]`, as axios, PHP and
 * clients generated from OpenAPI's `deepObject` send them. Other names stay.
 */
function gatherParts(texts: Fields, isField: TextConversion["isField"], mappings: ReadonlySet<string>): Fields {
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
    : { ...texts, ...Object.fromEntries([...parts].map(([name, all]) => [name, nest(all, mappings.has(name))])) };
}

/** A list when a key is empty, or when all keys are numbers, by which it is then sorted; otherwise a mapping. */
function nest(parts: readonly Part[], isMapping = false): unknown {
  if (parts.some(({ keys }) => keys.length === 0)) {
    const texts = parts.flatMap(({ text }) => text);
    return texts.length === 1 ? texts[0] : texts;
  }
  const byKey = Map.groupBy(parts, ({ keys: [key = ""] }) => key);
  const inner = [...byKey].map(([key, all]) => {
    return [key, nest(all.map(({ keys, text }) => ({ keys: keys.slice(1), text })))] as const;
  });
  if (byKey.has("")) return inner.flatMap(([key, value]) => (key === "" ? value : [value]));
  if (isMapping || !inner.every(([key]) => /^\d+$/.test(key))) return Object.fromEntries(inner);
  return inner.sort(([one], [other]) => Number(one) - Number(other)).map(([, value]) => value);
}

/** Mappings, and lists in lists, are sent as JSON. @returns undefined for what is none of these */
function readJson(given: unknown): unknown {
  if (Array.isArray(given)) {
    const read = given.map(readJson);
    return read.every((one) => one === undefined) ? undefined : read.map((one, at) => one ?? given[at]);
  }
  const value = typeof given === "string" ? tryParseJson(given) : undefined;
  return isCollection(value) && !isDeep(value) ? value : undefined;
}

/** Reads the texts at these paths as booleans, where the schema wants one there; all at once, since each try costs. */
function readBooleans(
  copy: Record<string, unknown>,
  paths: readonly (readonly string[])[],
  convert: ValidateFunction,
): void {
  const tried = structuredClone(copy);
  const written = paths.filter((path) => {
    const text = partOf(copy, path.slice(0, -1))?.[path.at(-1) ?? ""];
    const word = typeof text === "string" ? BOOLEANS.get(text.toLowerCase()) : undefined;
    return word !== undefined && put(tried, path, word);
  });
  if (written.length === 0) return;
  convert(tried);
  for (const path of written) {
    const made = partOf(tried, path.slice(0, -1))?.[path.at(-1) ?? ""];
    if (typeof made === "boolean") put(copy, path, made);
  }
}

function put(whole: Record<string, unknown>, path: readonly string[], value: unknown): boolean {
  const holder = partOf(whole, path.slice(0, -1));
  if (holder) holder[path.at(-1) ?? ""] = value;
  return holder !== undefined;
}

/** The part of a value at a path; undefined where there is no mapping and no list. */
const partOf = (value: unknown, path: readonly string[]): Record<string, unknown> | undefined =>
  path.reduce(step, value as Record<string, unknown> | undefined);

function step(part: Record<string, unknown> | undefined, name: string): Record<string, unknown> | undefined {
  const inner = part?.[name];
  return isCollection(inner) ? (inner as Record<string, unknown>) : undefined;
}
