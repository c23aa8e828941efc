import type { AnyHandler } from "../../api/plugin.ts";
import { Problem, type ValidationIssue } from "../../api/problem.ts";
import { isObject } from "../json.ts";
import type { Path } from "../schema/nodes.ts";
import { subschemas } from "../schema/subschemas.ts";
import type { Schema } from "../schema/validator.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { Draft } from "./draft.ts";
import { type Fault, faultAt, faultAtKey } from "./faults.ts";

/** The compiled schemas of one manifest, without those that do not compile. */
export interface Compiled {
  readonly input?: Schema;
  readonly output?: Schema;
}

/** Checks the examples against their schemas. Here an unknown field is a fault, since it is probably misspelt. */
export function checkExamples(draft: Draft, compiled: Compiled): Fault[] {
  return (draft.data.examples ?? []).flatMap((example, at) =>
    (["input", "output"] as const).flatMap((part) => {
      const schema = compiled[part];
      const path = ["examples", at, part];
      if (!schema || example[part] === undefined) return [];
      const { value, issues } = schema.check(example[part], "body", "own");
      const fields = fieldsOf(schema);
      return [...toFaults(draft, path, issues), ...findDropped(draft, path, example[part], value, fields)];
    }),
  );
}

/** Checks the examples by the handler's own rules. */
export function checkExamplesByHandler(draft: Draft, input: Schema | undefined, handler: AnyHandler): Fault[] {
  if (!input || typeof handler !== "object") return [];
  return (draft.data.examples ?? []).flatMap((example, at) => {
    const { value, issues } = input.check(example.input, "body", "own");
    if (issues.length > 0) return [];
    try {
      const answer: unknown = handler.check?.(value as never);
      if (!(answer instanceof Promise)) return [];
      answer.catch(() => {});
      return [
        faultAt(draft, ["handler"], "plugin-invalid", "its check is async: nobody would wait for what it refuses"),
      ];
    } catch (error) {
      const problem = Problem.from(error);
      const path = ["examples", at, "input"];
      const found = toFaults(draft, path, problem.options.issues ?? []);
      const said = error instanceof Error ? error.message : String(error);
      return found.length > 0 ? found : [faultAt(draft, path, "bad-example", said)];
    }
  });
}

/** Issues as faults: the first element of `loc` (`body`) is replaced by the example's path. */
const toFaults = (draft: Draft, path: Path, issues: readonly ValidationIssue[]): Fault[] =>
  issues.map(({ loc, msg }) => faultAt(draft, [...path, ...loc.slice(1)], "bad-example", msg));

/** All fields of the schema, at any depth: candidates for the correction of a misspelt field. */
const fieldsOf = ({ document }: Schema): string[] =>
  [...subschemas(document)].flatMap(({ schema: { properties } }) =>
    Object.keys(isObject(properties) ? properties : {}),
  );

function findDropped(draft: Draft, path: Path, given: unknown, checked: unknown, fields: readonly string[]): Fault[] {
  if (Array.isArray(given) && Array.isArray(checked))
    return given.flatMap((item, at) => findDropped(draft, [...path, at], item, checked[at], fields));
  if (!isObject(given) || !isObject(checked)) return [];
  return Object.entries(given).flatMap(([key, value]) => {
    if (value === null) return [];
    if (Object.hasOwn(checked, key)) return findDropped(draft, [...path, key], value, checked[key], fields);
    const complaint = `the schema has no such field${didYouMean(key, fields)}`;
    return [faultAtKey(draft, [...path, key], "bad-example", complaint)];
  });
}
