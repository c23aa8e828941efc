import { isObject } from "../json.ts";
import type { Path } from "../schema/nodes.ts";
import type { Schemas } from "../schema/subschemas.ts";
import { type Compile, createCompiler, type Schema } from "../schema/validator.ts";
import { type Compiled, checkExamples } from "./examples.ts";
import { type Fault, faultAt, type SourceFile } from "./faults.ts";
import type { Draft } from "./manifests.ts";
import { createSchemaLint } from "./schema-lint.ts";
import { checkSchema } from "./schemas.ts";

/** The schemas of a set, and what is wrong with them and with the examples. */
export interface CompiledSet {
  readonly schemas: Schemas;
  readonly compile: Compile;
  readonly faults: readonly Fault[];
}

/** A schema and where it stands: it is a file of `schemas/`, or a part of a manifest. */
interface Place {
  readonly source: SourceFile;
  readonly base: Path;
  readonly schema: string | object;
}

/**
 * Compiles every named schema and every one that is written in a manifest, and holds the examples against them.
 * @param sources by name; the data of a file that could not be read is undefined.
 * @param isSound whether that is known to find nothing: then it is left for the first call of each service.
 */
export function compileSet(
  sources: ReadonlyMap<string, SourceFile>,
  drafts: readonly Draft[],
  isSound = false,
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
    ...drafts.flatMap((draft) => checkExamples(draft, toCompiled(draft, compile))),
  ];
  return { schemas, compile, faults };
}

/** The schemas of a manifest, as far as they compile. */
export function toCompiled({ data: { input, output } }: Draft, compile: Compile): Compiled {
  const [taken, given] = [input, output].map((schema) => schema && tryCompile(schema, compile));
  return {
    ...(typeof taken === "object" && { input: taken }),
    ...(typeof given === "object" && { output: given }),
  };
}

function findFaulty(places: readonly Place[], schemas: Schemas, compile: Compile): Fault[] {
  const contentOf = ({ source, schema }: Place): unknown => (typeof schema === "string" ? source.data : schema);
  const faults = places.flatMap((place) => checkSchema(place.source, place.base, contentOf(place), schemas));
  const broken = places.flatMap((place) => {
    const message = tryCompile(place.schema, compile);
    return typeof message === "string" ? [{ place, message }] : [];
  });
  if (broken.length === 0) return faults;
  const lint = createSchemaLint();
  const known = new Set(faults.map(toPosition));
  const found = broken.flatMap(({ place }) => lint(place.source, place.base, contentOf(place)));
  faults.push(...found.filter((fault) => !known.has(toPosition(fault))));
  // A schema that refers to a faulty one, or to one that could not be read, does not compile either: it is not to blame.
  if (faults.length > 0 || schemas.names.size > schemas.documents.size) return faults;
  return broken.map(({ place: { source, base }, message }) => faultAt(source, base, "bad-schema", message));
}

/** The compiled schema, or why there is none. */
function tryCompile(schema: string | object, compile: Compile): Schema | string {
  try {
    return compile(schema);
  } catch (error) {
    const { cause, message } = error as Error;
    return cause instanceof Error ? cause.message : message;
  }
}

const toInline = (draft: Draft): Place[] =>
  (["input", "output"] as const).flatMap((key) => {
    const schema = draft.data[key];
    return isObject(schema) ? [{ source: draft, base: [key], schema }] : [];
  });

const toPosition = ({ file, line, column }: Fault): string => `${file}:${line}:${column}`;
