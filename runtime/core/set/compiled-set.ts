import { isObject } from "../json.ts";
import { once } from "../once.ts";
import type { Path } from "../schema/nodes.ts";
import { toShape } from "../schema/shape.ts";
import type { Schemas } from "../schema/subschemas.ts";
import { type Compile, createCompiler, type Schema } from "../schema/validator.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { Draft } from "./draft.ts";
import { type Compiled, checkExamples } from "./examples.ts";
import { type Fault, faultAt, type SourceFile } from "./faults.ts";
import { createSchemaLint } from "./schema-lint.ts";
import { checkDefaults, checkSchema } from "./schemas.ts";

/** The compiled schemas of a set, with the faults of the schemas and of the examples. */
export interface CompiledSet {
  readonly schemas: Schemas;
  readonly compile: Compile;
  readonly faults: readonly Fault[];
}

/** A schema and its place: the name of a file in `schemas/`, or an inline schema of a manifest. */
interface Place {
  readonly source: SourceFile;
  readonly base: Path;
  readonly schema: string | object;
}

/**
 * Compiles every named schema and every inline schema, and checks the examples against them.
 * @param sources by name; the data of a file that could not be read is undefined.
 * @param isSound whether the set is known to have no faults: nothing is checked then, and each schema is compiled at
 * the first call of its service.
 */
export function compileSet(
  sources: ReadonlyMap<string, SourceFile>,
  drafts: readonly Draft[],
  isSound: boolean,
): CompiledSet {
  const documents = new Map(
    [...sources].flatMap(([name, { data }]) => (isObject(data) ? [[name, data] as const] : [])),
  );
  const flat = [...sources.values()].filter(({ data }) => data !== undefined && !isObject(data));
  const schemas = { documents, names: new Set(sources.keys()) };
  const compile = createCompiler(documents, { areSound: isSound });
  if (isSound) return { schemas, compile, faults: [] };
  const named = [...sources].flatMap(([name, source]): Place[] =>
    documents.has(name) ? [{ source, base: [], schema: name }] : [],
  );
  const faults = [
    ...flat.map((source) => faultAt(source, [], "bad-schema", "must be an object")),
    ...findFaulty([...named, ...drafts.flatMap(toInline)], schemas, compile),
    ...drafts.flatMap((draft) => {
      const compiled = toCompiled(draft, compile);
      return [...checkExamples(draft, compiled), ...checkRequired(draft, compiled)];
    }),
  ];
  return { schemas, compile, faults };
}

/** The schemas of a manifest, without those that do not compile. */
export function toCompiled({ data: { input, output } }: Draft, compile: Compile): Compiled {
  const taken = input === undefined ? undefined : tryCompile(input, compile).schema;
  const given = output === undefined ? undefined : tryCompile(output, compile).schema;
  return { ...(taken && { input: taken }), ...(given && { output: given }) };
}

const contentOf = ({ source, schema }: Place): unknown => (typeof schema === "string" ? source.data : schema);

const findBadDefaults = (place: Place, compile: Compile): Fault[] =>
  checkDefaults(place.source, place.base, contentOf(place), compile);

/** Finds fields that an output requires and does not name: every answer would lose them, and none could be sold. */
function checkRequired(draft: Draft, { output }: Compiled): Fault[] {
  if (!output) return [];
  const { document, nodes } = output;
  const root = "$ref" in document ? nodes.resolve(document) : document;
  const required = isObject(root) && Array.isArray(root.required) ? root.required : [];
  const shape = toShape(document, nodes.resolve);
  if (shape.isFree || shape.rest()) return [];
  const missing = required.filter((name) => !shape.names.has(name));
  const at = isObject(draft.data.output) ? ["output", "required"] : ["output"];
  const [known, names] = [[...shape.names], missing.join(", ")];
  const complaint = `requires ${names}, which its properties do not name: no answer could be sold${didYouMean(names, known)}`;
  return missing.length === 0 ? [] : [faultAt(draft, at, "bad-schema", complaint)];
}

const schemaLint = once(createSchemaLint);

function findFaulty(places: readonly Place[], schemas: Schemas, compile: Compile): Fault[] {
  const faults = places.flatMap((place) => checkSchema(place.source, place.base, contentOf(place), schemas));
  const lint = schemaLint();
  const known = new Set(faults.map(toPosition));
  const invalid = places
    .flatMap((place) => lint(place.source, place.base, contentOf(place)))
    .filter((fault) => !known.has(toPosition(fault)));
  faults.push(...invalid);
  const broken = places.flatMap((place) => {
    const { fault } = tryCompile(place.schema, compile);
    return fault === undefined ? [] : [{ place, fault }];
  });
  if (invalid.length + broken.length === 0)
    return [...faults, ...places.flatMap((place) => findBadDefaults(place, compile))];
  // A schema that refers to a faulty or unreadable schema does not compile either; only the cause is reported.
  if (faults.length > 0 || schemas.names.size > schemas.documents.size) return faults;
  return broken.map(({ place: { source, base }, fault }) => faultAt(source, base, "bad-schema", fault));
}

/** The compiled schema, or the reason why it does not compile. */
function tryCompile(schema: string | object, compile: Compile): { readonly schema?: Schema; readonly fault?: string } {
  try {
    return { schema: compile(schema) };
  } catch (error) {
    const { cause, message } = error as Error;
    return { fault: cause instanceof Error ? cause.message : message };
  }
}

const toInline = (draft: Draft): Place[] =>
  (["input", "output"] as const).flatMap((key) => {
    const schema = draft.data[key];
    return isObject(schema) ? [{ source: draft, base: [key], schema }] : [];
  });

const toPosition = ({ file, line, column }: Fault): string => `${file}:${line}:${column}`;
