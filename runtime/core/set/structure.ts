import type { ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import manifestSchema from "../../../schemas/manifest.json" with { type: "json" };
import siteSchema from "../../../schemas/site.json" with { type: "json" };
import { isObject, unescapeStep } from "../json.ts";
import { once } from "../once.ts";
import { OPTIONS } from "../schema/keywords.ts";
import type { Path } from "../schema/nodes.ts";
import { didYouMean } from "./did-you-mean.ts";
import { type Fault, type FaultCode, faultAt, faultAtKey, type SourceFile } from "./faults.ts";
import { GRAMMARS } from "./grammar.ts";
import type { Manifest, SiteManifest } from "./manifest.ts";

/** The result of checking one file by itself. */
export interface Checked<Data> {
  readonly faults: readonly Fault[];
  /** The file; faulty root keys have no value. */
  readonly draft: SourceFile<Partial<Data>>;
}

/** Checks one file by itself. */
export type CheckStructure<Data> = (source: SourceFile) => Checked<Data>;

const KINDS: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  integer: "a whole number",
  number: "a number",
  object: "a mapping",
  string: "text",
};
const LIMITS: Readonly<Record<string, readonly [code: FaultCode, complaint: string]>> = {
  minLength: ["too-short", "has fewer than # characters"],
  maxLength: ["too-long", "has more than # characters"],
  minItems: ["too-few", "has fewer than # items"],
  maxItems: ["too-many", "has more than # items"],
  minimum: ["out-of-range", "must be at least #"],
  maximum: ["out-of-range", "must be at most #"],
};

/** Checks of `manifests/<id>.yaml` and `manifests/_site.yaml`. */
export interface StructureChecks {
  readonly manifest: CheckStructure<Manifest>;
  readonly site: CheckStructure<SiteManifest>;
}

const trust = <Data>(source: SourceFile): Checked<Data> => ({ faults: [], draft: source as SourceFile<Partial<Data>> });

/** Accepts every file without checking; for files that are known to have no faults. */
export const TRUSTED: StructureChecks = { manifest: trust, site: trust };

/** Checks against `schemas/manifest.json` and `schemas/site.json`, which are compiled once. */
export const structureChecks = once((): StructureChecks => {
  const formats = Object.entries(GRAMMARS).map(([name, { explain }]) => [name, (text: string) => !explain(text)]);
  // The two schemas are our own and a test validates them, so the meta-schema is not needed at the start.
  const ajv = new Ajv2020({ ...OPTIONS, validateSchema: false, meta: false, formats: Object.fromEntries(formats) });
  const check =
    <Data>(schema: object): CheckStructure<Data> =>
    (source) => {
      const validate = ajv.compile(schema);
      validate(source.data);
      const errors = validate.errors ?? [];
      return { faults: toFaults(source, errors), draft: { ...source, data: toSound(source.data, errors) } };
    };
  return { manifest: check(manifestSchema), site: check(siteSchema) };
});

/** The data without the values of faulty keys. The cast holds because the schema has accepted the others. */
function toSound<Data>(data: unknown, errors: readonly ErrorObject[]): Partial<Data> {
  const faulty = errors.map(({ instancePath }) => toPath(instancePath)[0]);
  return Object.fromEntries(
    Object.entries(isObject(data) ? data : {}).map(([key, value]) => [key, faulty.includes(key) ? undefined : value]),
  ) as Partial<Data>;
}

/** Ajv's errors as faults. */
const toFaults = (source: SourceFile, errors: readonly ErrorObject[]): Fault[] =>
  errors
    .filter(({ keyword }) => keyword !== "propertyNames" && keyword !== "if")
    .map((error) => toFault(source, error));

function toFault(source: SourceFile, error: ErrorObject): Fault {
  const { keyword, params, data, schema, propertyName } = error;
  const path = toPath(error.instancePath);
  const complain = (code: FaultCode, complaint: string): Fault =>
    propertyName === undefined
      ? faultAt(source, path, code, complaint)
      : faultAtKey(source, [...path, propertyName], code, complaint);
  const [code, complaint] = LIMITS[keyword] ?? [];
  if (code && complaint) return complain(code, explainLimit(complaint, params.limit));
  switch (keyword) {
    case "required": {
      const missing = faultAtKey(source, [...path, params.missingProperty], "missing-key", "is missing");
      return { ...missing, ...source.locate(path, "key") };
    }
    case "additionalProperties": {
      const unknown: string = params.additionalProperty;
      const known = Object.keys((error.parentSchema?.properties ?? {}) as object);
      const meant = (path.join() === "proxy" && IN_PROXY.get(unknown)) || didYouMean(toKey(unknown, known), known);
      return faultAtKey(source, [...path, unknown], "unknown-key", `no such key${meant}`);
    }
    case "type":
      return complain("wrong-type", explainType(error) + toList(error));
    case "enum": {
      const words = (schema as unknown[]).map((word) => JSON.stringify(word)).join(", ");
      return complain(
        "bad-value",
        `must be one of ${words}${didYouMean(String(data), (schema as unknown[]).map(String))}`,
      );
    }
    case "uniqueItems":
      return faultAt(source, [...path, Math.max(params.i, params.j)], "duplicate-item", "stands in the list twice");
    case "format": {
      const grammar = GRAMMARS[params.format as string];
      return complain(grammar?.code ?? "bad-value", grammar?.explain(propertyName ?? String(data)) ?? "does not fit");
    }
    default:
      return complain("bad-value", error.message ?? "does not fit");
  }
}

/** The key that goes on after an underscore, as `deadline_seconds` for `deadline`; or the word itself. */
const toKey = (word: string, known: readonly string[]): string =>
  known.find((key) => key.startsWith(`${word}_`)) ?? word;

const OF_SITE = "; it belongs to the upstream in _site.yaml";
const OF_LINE = '; write method and path under request: "GET /v1/rates/{date}"';
/** Keys that other programs use for a proxied service, with the equivalent here. */
const IN_PROXY: ReadonlyMap<string, string> = new Map([
  ["url", '; the URL stands at an upstream in _site.yaml, which "upstream" names'],
  ["method", OF_LINE],
  ["path", OF_LINE],
  ["retries", OF_SITE],
  ["timeout", OF_SITE],
  ["timeout_seconds", OF_SITE],
  ["key", OF_SITE],
]);

function explainLimit(complaint: string, limit: number): string {
  return limit === 1 && complaint.startsWith("has fewer") ? "must not be empty" : complaint.replace("#", String(limit));
}

function explainType({ schema, data, parentSchema }: ErrorObject): string {
  const types = [schema].flat() as string[];
  const wanted = `must be ${types.map((type) => KINDS[type] ?? type).join(" or ")}`;
  const [name, ...others] = isObject(data) ? Object.keys(data) : [];
  const isPlaceholder = types.includes("string") && others.length === 0 && isObject(data) && data[name ?? ""] === null;
  if (isPlaceholder) return `${wanted}; write it in quotes: "{${name}}"`;
  const isQuotable = typeof data === "number" || typeof data === "boolean";
  if (!types.includes("string") || !isQuotable) return wanted;
  if (isRounded(data)) return `${wanted}; write it in quotes`;
  return `${wanted}; ${GRAMMARS[parentSchema?.format]?.explain(String(data)) ?? `write it in quotes: "${data}"`}`;
}

/** Whether a number has lost digits, as an address does: 0x…. */
const isRounded = (data: unknown): boolean => typeof data === "number" && !Number.isSafeInteger(Math.trunc(data));

/** The list that a single item, or a text with several items, should be. */
function toList({ schema, data, parentSchema }: ErrorObject): string {
  const isNumber = isObject(parentSchema?.items) && parentSchema.items.type === "integer";
  const parts = typeof data === "string" ? data.split(/[\s,]+/) : [data];
  const items = isNumber ? parts.map(Number) : parts.map(String);
  const isListed = schema === "array" && typeof data !== "object" && !items.some(Number.isNaN);
  if (isListed && isRounded(data)) return ", with its items in quotes";
  return isListed ? `, such as ${JSON.stringify(items)}` : "";
}

/** A JSON Pointer as a path. Digits become an index, which also finds a mapping's numeric key. */
export const toPath = (pointer: string): Path =>
  pointer
    .split("/")
    .slice(1)
    .map(unescapeStep)
    .map((step) => (/^(?:0|[1-9]\d*)$/.test(step) ? Number(step) : step));
