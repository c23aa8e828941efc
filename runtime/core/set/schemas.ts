import { isObject } from "../json.ts";
import type { Path } from "../schema/nodes.ts";
import { explainPattern } from "../schema/pattern.ts";
import { definitionsOf, parseReference, type SchemaObject, type Schemas, subschemas } from "../schema/subschemas.ts";
import type { Compile } from "../schema/validator.ts";
import { didYouMean } from "./did-you-mean.ts";
import { type Fault, faultAt, faultAtKey, type SourceFile } from "./faults.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/**
 * Finds what JSON Schema allows but a set does not: another dialect, an `$id`, references to outside of the set, and
 * patterns that are slow on hostile texts. Also finds words that are no JSON Schema, but say nothing about values.
 * @param base the path of the schema in its source.
 */
export function checkSchema(source: SourceFile, base: Path, schema: unknown, schemas: Schemas): Fault[] {
  return [...subschemas(schema)].flatMap(({ schema: part, path }) => {
    const place = [...base, ...path];
    return [
      ...checkIdentity(source, place, part),
      ...checkReference(source, [...place, "$ref"], part, schema, schemas),
      ...checkPatterns(source, place, part),
      ...checkWords(source, place, part),
    ];
  });
}

function checkIdentity(source: SourceFile, path: Path, { $schema, $id }: SchemaObject): Fault[] {
  const faults: Fault[] = [];
  if ($schema !== undefined && $schema !== DIALECT)
    faults.push(faultAt(source, [...path, "$schema"], "bad-schema", `must be "${DIALECT}", or left out`));
  if ($id !== undefined)
    faults.push(
      faultAtKey(source, [...path, "$id"], "bad-schema", "leave it out; a schema is called what its file is"),
    );
  return faults;
}

function checkReference(
  source: SourceFile,
  path: Path,
  { $ref }: SchemaObject,
  root: unknown,
  schemas: Schemas,
): Fault[] {
  if (typeof $ref !== "string") return [];
  const fail = (complaint: string): Fault[] => [faultAt(source, path, "unknown-reference", complaint)];
  const { documents, names } = schemas;
  const failNearly = (complaint: string): Fault[] => {
    const files = [...names].map((name) => `${name}.json`);
    return fail(complaint + didYouMean($ref, files));
  };
  const reference = parseReference($ref);
  if (!reference) return failNearly('write "Name.json" or "#/$defs/name"');
  const { name, definition } = reference;
  if (name !== undefined && !names.has(name)) return failNearly(`there is no schemas/${name}.json`);
  const target = name === undefined ? root : documents.get(name);
  if (target === undefined || definition === undefined) return [];
  const known = Object.keys(definitionsOf(target));
  return known.includes(definition) ? [] : fail(`no such definition${didYouMean(definition, known)}`);
}

function checkPatterns(
  source: SourceFile,
  path: Path,
  { pattern, patternProperties, maxLength }: SchemaObject,
): Fault[] {
  const longest = typeof maxLength === "number" ? maxLength : undefined;
  const own = typeof pattern === "string" ? explainPattern(pattern, longest) : undefined;
  const faults = own === undefined ? [] : [faultAt(source, [...path, "pattern"], "unsafe-pattern", own)];
  for (const key of Object.keys(isObject(patternProperties) ? patternProperties : {})) {
    const complaint = explainPattern(key);
    if (complaint) faults.push(faultAtKey(source, [...path, "patternProperties", key], "unsafe-pattern", complaint));
  }
  return faults;
}

/** Words that describe a value. No input is checked by them, so that the schema compiles whatever they say. */
const WORDS: Readonly<Record<string, string>> = {
  title: "text",
  description: "text",
  $comment: "text",
  deprecated: "true or false",
  readOnly: "true or false",
  writeOnly: "true or false",
};

/** Facilitators check the schemas of a challenge, and directories list no service with a faulty one. */
const checkWords = (source: SourceFile, path: Path, part: SchemaObject): Fault[] =>
  Object.entries(part).flatMap(([key, value]) => {
    const fail = (right: string): Fault[] => [faultAt(source, [...path, key], "bad-schema", `must be ${right}`)];
    if (typeof value === "number" && !Number.isFinite(value)) return fail("a finite number");
    const right = Object.hasOwn(WORDS, key) ? WORDS[key] : undefined;
    if (right !== undefined && typeof value !== (right === "text" ? "string" : "boolean")) return fail(right);
    return key === "examples" && !Array.isArray(value) ? fail("a list") : [];
  });

/**
 * Finds defaults that do not fit their own schema: every call without that field would be refused.
 * @param schema that compiles, at `base` of its source.
 */
export function checkDefaults(source: SourceFile, base: Path, schema: unknown, compile: Compile): Fault[] {
  const $defs = definitionsOf(schema);
  return [...subschemas(schema)].flatMap(({ schema: part, path }) => {
    if (part.default === undefined || refersToRoot(part)) return [];
    const alone = { type: "object", properties: { value: part }, $defs };
    const [issue] = compile(alone).check({ value: part.default }, "body").issues;
    if (!issue) return [];
    return [faultAt(source, [...base, ...path, "default"], "bad-schema", `does not fit its schema: ${issue.msg}`)];
  });
}

/** Whether a schema refers to the whole schema around it, which it has not when it is compiled alone. */
const refersToRoot = (part: unknown): boolean =>
  [...subschemas(part)].some(({ schema: { $ref } }) => $ref === "#") || (isObject(part) && "$defs" in part);
