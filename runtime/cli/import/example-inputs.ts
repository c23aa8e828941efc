import { isSameJson } from "../../core/digest.ts";
import { hasExactIntegers, isObject, type JsonObject } from "../../core/json.ts";
import { toIssueText } from "../../core/schema/issues.ts";
import type { Compile } from "../../core/schema/validator.ts";
import { checkExamples } from "../../core/set/examples.ts";
import type { ProxyManifest } from "../../core/set/manifest.ts";
import { createSendable } from "../set/proxy-examples.ts";
import { Refused } from "./imported.ts";
import { toSmallest } from "./smallest-schema.ts";

/** The schemas of a service, and the values from which its examples are made. */
export interface ExampleTerms {
  /** `proxy` of the manifest. */
  readonly proxy: unknown;
  readonly input: unknown;
  readonly output: unknown;
  readonly compile: Compile;
  /** Schemas by name. */
  readonly documents: ReadonlyMap<string, object>;
}

/** An example, and what is said of it. */
export interface FoundExample {
  readonly example: Example;
  /** Whether its input was made from the schema. */
  readonly isDerived: boolean;
  /** Why the first of the given outputs would not be sold, where none would. */
  readonly misfit: string | undefined;
}

export interface Example {
  readonly input: JsonObject;
  readonly output?: unknown;
}

const SEEDS = [1, 2, 3, 5, 8, 13, 21];

/**
 * The first given input that fits and can be sent, with the first given output that fits. When there is no such input, the
 * smallest one that can be made from the schema, with the given fields where they fit; else one that fits alone, of which
 * the check says why it cannot be sent.
 * @throws Refused when none can be made, or a schema cannot be compiled.
 */
export async function findExample(
  terms: ExampleTerms,
  inputs: readonly unknown[],
  outputs: readonly unknown[],
): Promise<FoundExample> {
  const compiled = compileBoth(terms);
  const fits = (part: "input" | "output", value: unknown): boolean => {
    if ((part === "input" && !isObject(value)) || !hasExactIntegers(value) || !isSameJson(value, value)) return false;
    const draft = {
      file: "",
      data: { examples: [{ input: {}, [part]: value }] },
      locate: () => ({ line: 1, column: 1 }),
    };
    return checkExamples(draft, { [part]: compiled[part] }).length === 0;
  };
  const isSendable = createSendable(terms.proxy as ProxyManifest, compiled.input); // As imports write it.
  const isFit: Fits = (value) => fits("input", value);
  const isGood: Fits = (value) => isFit(value) && isSendable(value as JsonObject); // As `fits` has found.
  const output = outputs.find((value) => value !== undefined && fits("output", value));
  const good = inputs.find(isGood);
  const derived = good ?? (await deriveBeside(inputs, terms, isGood));
  const given = derived === undefined ? inputs.find(isFit) : good;
  const input = (derived ?? given ?? (await derive(terms, isFit))) as JsonObject | undefined;
  if (!input)
    throw new Refused("no example of its input could be made, and the document has none that fits its own schema");
  const issues = outputs.map((value) => compiled.output.check(value, "body").issues);
  const misfit = issues.every(({ length }) => length > 0) ? issues[0] : undefined;
  return {
    example: { input, ...(output !== undefined && { output }) },
    isDerived: given === undefined,
    misfit: misfit && toIssueText(misfit.slice(0, 1)),
  };
}

type Fits = (value: unknown) => boolean;

function compileBoth({ input, output, compile }: ExampleTerms) {
  const compileOne = (part: string, schema: unknown) => {
    try {
      return compile(schema as string | object);
    } catch (error) {
      const { cause, message } = error as Error;
      throw new Refused(`its ${part} cannot be checked: ${cause instanceof Error ? cause.message : message}`);
    }
  };
  return { input: compileOne("input", input), output: compileOne("output", output) };
}

/** A derived input with the fields of a given one, where they fit: documents often show a body, and no parameters. */
async function deriveBeside(inputs: readonly unknown[], terms: ExampleTerms, fits: Fits): Promise<unknown> {
  const made = await derive(terms, fits);
  if (!isObject(made)) return made;
  return (
    inputs
      .filter(isObject)
      .map((given) => ({ ...made, ...given }))
      .find(fits) ?? made
  );
}

/** An input with the required fields only; undefined when none fits. The same schema always gives the same input. */
async function derive({ input, documents }: ExampleTerms, fits: Fits): Promise<unknown> {
  if (fits({})) return {};
  const { generateSync } = await import("json-schema-faker");
  const schema = typeof input === "string" ? { $ref: `${input}.json` } : input;
  for (const [choice, seed] of SEEDS.entries()) {
    const smallest = toSmallest(schema, documents, choice);
    const options = { seed, useExamplesValue: choice === 0, optionalsProbability: 0 };
    const found = attempt(() => generateSync(structuredClone(smallest), options));
    if (fits(found)) return found;
  }
  return undefined;
}

function attempt(make: () => unknown): unknown {
  try {
    return make();
  } catch {
    return undefined; // Another attempt may have a value that fits.
  }
}
