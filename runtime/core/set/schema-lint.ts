import { Ajv2020 } from "ajv/dist/2020.js";
import { addKeywords, OPTIONS } from "../schema/keywords.ts";
import type { Path } from "../schema/nodes.ts";
import { type SchemaObject, subschemas } from "../schema/subschemas.ts";
import { didYouMean } from "./did-you-mean.ts";
import { type Fault, faultAt, faultAtKey, type SourceFile } from "./faults.ts";
import { toPath } from "./structure.ts";

/** Finds the keywords that make a schema invalid; the schema is the value at `base` of its source. */
export type LintSchema = (source: SourceFile, base: Path, schema: unknown) => Fault[];

/** Compiling the meta-schema takes longer than starting a small set: a set that is known to be sound needs no lint. */
export function createSchemaLint(): LintSchema {
  const ajv = new Ajv2020(OPTIONS);
  addKeywords(ajv);
  return (source, base, schema) => [...checkMeta(ajv, source, base, schema), ...checkWords(ajv, source, base, schema)];
}

/** One fault per place: a wrong `type` breaks three rules of the meta-schema at once. */
function checkMeta(ajv: Ajv2020, source: SourceFile, base: Path, schema: unknown): Fault[] {
  const { $schema: _, ...rest } = schema as SchemaObject; // Ajv knows no other dialect, and would throw.
  void ajv.validateSchema(rest); // The meta-schema is not `$async`: its answer is no promise.
  const byPlace = new Map((ajv.errors ?? []).toReversed().map((error) => [error.instancePath, error]));
  return [...byPlace].map(([pointer, { keyword, message = "does not fit", schema: members, data }]) => {
    const words =
      keyword === "enum"
        ? `must be one of ${(members as string[]).join(", ")}${didYouMean(String(data), members as string[])}`
        : message;
    return faultAt(source, [...base, ...toPath(pointer)], "bad-schema", words);
  });
}

function checkWords(ajv: Ajv2020, source: SourceFile, base: Path, schema: unknown): Fault[] {
  const keywords = Object.keys(ajv.RULES.keywords);
  return [...subschemas(schema)].flatMap(({ schema: part, path }) => {
    const unknown = Object.keys(part).filter((key) => !Object.hasOwn(ajv.RULES.keywords, key));
    const faults = unknown.map((key) => {
      const right = key === "nullable" ? '; list "null" among the types instead' : didYouMean(key, keywords);
      return faultAtKey(source, [...base, ...path, key], "bad-schema", `no such keyword${right}`);
    });
    const { format } = part;
    if (typeof format !== "string" || ajv.formats[format]) return faults;
    const complaint = `no such format${didYouMean(format, Object.keys(ajv.formats))}`;
    return [...faults, faultAt(source, [...base, ...path, "format"], "bad-schema", complaint)];
  });
}
