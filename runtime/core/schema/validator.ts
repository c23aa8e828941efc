import type { ErrorObject, Options, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidationIssue } from "../../api/problem.ts";
import { isObject } from "../json.ts";
import { once } from "../once.ts";
import { compileApart } from "./compile-apart.ts";
import { type CopyUse, copyValue } from "./copy-value.ts";
import { createEndlessCheck } from "./endless.ts";
import { type InputLocation, missingValue, toIssues } from "./issues.ts";
import { addKeywords, OPTIONS } from "./keywords.ts";
import { namedFields } from "./named-fields.ts";
import { createSchemaNodes, listOf, type SchemaNode, type SchemaNodes } from "./nodes.ts";
import { convertTexts } from "./query-texts.ts";
import { allowsNull, toShape } from "./shape.ts";
import { mapSubschemas, type SchemaObject } from "./subschemas.ts";

/** A compiled JSON Schema (2020-12). */
export interface Schema {
  /** The schema itself, with its `$ref`s unresolved. */
  readonly document: Readonly<Record<string, unknown>>;
  /** Resolves its `$ref`s. */
  readonly nodes: Pick<SchemaNodes, "resolve" | "reach">;
  /**
   * A checked copy with defaults filled in, and all faults in the vocabulary of pydantic v2; the first one alone of a value
   * with many parts. `null` in an optional field means absent. Unknown fields are dropped, not refused.
   * @param from the first element of every `loc`.
   * @param use `input`: JSON that was parsed for this call alone, so that parts of any shape are not copied. An
   * optional `null` that the schema allows and that has no default is omitted, so that equal calls have equal inputs.
   * `passed`: an input that is passed on to another API, where such a `null` may clear a field: it is kept.
   * `own`: what the operator wrote, all faults of which are found, however many parts it has.
   */
  check(
    value: unknown,
    from: InputLocation,
    use?: CopyUse | "own",
  ): { readonly value: unknown; readonly issues: readonly ValidationIssue[] };
  /** A copy of query or path texts, converted to the schema's types. Other texts stay as they are for `check`. */
  coerce(texts: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

/** Compiles a schema, given by its name in `schemas/` or inline. @throws Error with the reason. */
export type Compile = (schema: string | object) => Schema;

const COMPILING: Options = {
  ...OPTIONS,
  strictRequired: false,
  ownProperties: true,
  validateSchema: false,
  meta: false,
};

export interface CompilerOptions {
  /** Whether the schemas are known to be valid: each is then compiled at its first check. */
  readonly areSound?: boolean;
  /** Whether they are of somebody else, who need not name types, and may use keywords and formats that are unknown here. */
  readonly areForeign?: boolean;
}

const LENIENT: Options = { strict: false, logger: false };

/**
 * A compiler for the schemas of a set. It does not check them against the meta-schema, which takes longer to compile
 * than thirty schemas. @param schemas by name, without `.json`.
 */
export function createCompiler(
  schemas: ReadonlyMap<string, object>,
  { areSound = false, areForeign = false }: CompilerOptions = {},
): Compile {
  const nodes = createSchemaNodes(schemas);
  const isEndless = createEndlessCheck(nodes);
  const strictness = areForeign ? LENIENT : {};
  // An invalid list costs far more to check where each part's faults are collected, in each branch of a union.
  const quick = once(() => createAjv(schemas, { ...strictness, allErrors: false }));
  const thorough = once(() => createAjv(schemas, strictness));
  // An instance of its own, because coercion is right for query texts but would turn a body's "5" into 5.
  const coercing = once(() => {
    const typed = [...schemas].map(([name, document]) => [name, toConvertible(document as SchemaObject)] as const);
    const ajv = createAjv(new Map(typed), { ...strictness, coerceTypes: "array" });
    ajv.opts.unevaluated = false; // Ends `anyOf` at the first fitting branch: a later one would turn 0 into null.
    return ajv;
  });

  return (schema) => {
    const document = typeof schema === "string" ? schemas.get(schema) : schema;
    if (document === undefined) throw new Error(`there is no schema ${JSON.stringify(schema)}`);
    if (typeof schema === "object") nodes.add(schema);
    if (!areSound && isEndless(document as SchemaNode))
      throw new Error("refers to itself for the same value, so that its check would never end");
    const validator = once(() => compile(quick(), schema));
    const faultFinder = once(() => compile(thorough(), schema));
    if (!areSound) validator();
    const converter = once(() =>
      compile(coercing(), typeof schema === "string" ? schema : toConvertible(schema as SchemaObject)),
    );
    const names = once(() => new Set(namedFields([document], nodes.resolve).map(([name]) => name)));
    const shape = once(() => toShape(document as SchemaNode, nodes.resolve));
    const takesNull = allowsNull(document as SchemaNode, nodes.resolve);

    return {
      document: document as Record<string, unknown>,
      nodes,
      check(value, from, use = "output") {
        if (value === undefined || (value === null && !takesNull)) return { value, issues: [missingValue(from)] };
        const copied = copyValue(value, shape(), from, use === "own" ? "output" : use);
        if (copied.issues.length > 0) return { value: undefined, issues: copied.issues };
        const errors = errorsOf(validator(), copied.value);
        const isWhole = errors.length > 0 && (use === "own" || !isLarge(copied.value));
        const all = isWhole ? errorsOf(faultFinder(), copied.value) : [];
        // Where fields are counted, as by minProperties, a `null` that clears one is a field.
        const isSound = copied.restoreNulls() && errors.length > 0 && errorsOf(validator(), copied.value).length === 0;
        const told = isSound ? [] : all.length > 0 ? all : errors;
        const issues = told.length > 0 ? toIssues(told, { value, from, document, nodes }) : [];
        return { value: copied.value, issues };
      },
      coerce: (texts) => convertTexts(texts, { isField: (name) => names().has(name), convert: converter() }),
    };
  };
}

const errorsOf = (validate: ValidateFunction, value: unknown): readonly ErrorObject[] =>
  validate(value) ? [] : (validate.errors ?? []);

/** The most parts of a value whose faults are all searched for. Usual calls have fewer. */
const MOST_PARTS = 256;

/** Whether a value has more than `MOST_PARTS` parts; counting stops there. */
function isLarge(value: unknown): boolean {
  let parts = 1;
  for (const waiting = [value]; waiting.length > 0 && parts <= MOST_PARTS; ) {
    const next = waiting.pop();
    if (Array.isArray(next)) {
      parts += next.length;
      waiting.push(...next.slice(0, MOST_PARTS));
    } else if (isObject(next))
      for (const key in next) {
        parts += 1;
        if (parts > MOST_PARTS) break; // `Object.values` would read all of a large object.
        waiting.push(next[key]);
      }
  }
  return parts > MOST_PARTS;
}

/**
 * Adds the type of listed numbers and booleans where a schema names none, since Ajv converts texts by types alone. Makes
 * each `oneOf` an `anyOf`, which ends at the first fitting branch.
 */
function toConvertible(schema: SchemaObject): SchemaObject {
  const values = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : [];
  const types = new Set(values.filter((value) => value !== null).map((value) => typeof value));
  const [type] = types.size === 1 && !types.has("string") && !types.has("object") ? types : [];
  const { oneOf, ...rest } = mapSubschemas(schema, toConvertible);
  const union = oneOf === undefined ? {} : { allOf: [...listOf(rest.allOf), { anyOf: oneOf }] };
  return { ...(type !== undefined && { type }), ...rest, ...union };
}

function createAjv(schemas: ReadonlyMap<string, object>, options: Options): Ajv2020 {
  const ajv = new Ajv2020({ ...COMPILING, ...options });
  addKeywords(ajv);
  for (const [name, document] of schemas) ajv.addSchema(document, `${name}.json`);
  return ajv;
}

function compile(ajv: Ajv2020, schema: string | object): ValidateFunction {
  try {
    return compileApart(ajv, typeof schema === "string" ? `${schema}.json` : schema) as ValidateFunction;
  } catch (cause) {
    const name = typeof schema === "string" ? `schemas/${schema}.json` : "an inline schema";
    throw new Error(`${name} is no usable schema: ${(cause as Error).message}`, { cause });
  }
}
