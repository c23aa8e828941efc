import type { ErrorObject } from "ajv";
import { isObject } from "../json.ts";
import type { SchemaNodes } from "./nodes.ts";

/** A fault to report: Ajv's error, or a sentence that replaces Ajv's message. */
export interface FoldedFault {
  readonly error: ErrorObject;
  readonly sentence?: string;
}

/** When one scalar breaks several rules of a schema, only the first in this order is reported, as pydantic does. */
const SCALAR_RULES = [
  ["enum", "const"],
  ["type"],
  ["minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  ["pattern", "format", "multipleOf"],
];

/** Further rules whose message `x-message` can replace. */
const SENTENCE_RULES = ["not", "dependentRequired", "uniqueItems", "format"];

/**
 * Folds the faults of branches (`anyOf`, `oneOf`, `if` …). Ajv reports each branch's faults, and then that of the
 * whole. This keeps the faults of the branches that match the value's type, or one sentence; `x-message` beside the
 * branches sets that sentence.
 */
export function foldFaults(errors: readonly ErrorObject[], nodes: SchemaNodes): FoldedFault[] {
  const folded: FoldedFault[] = [];
  for (const error of errors) folded.push(...fold(error, folded, nodes));
  return withoutRivals(folded);
}

/** What to report for a fault. The faults of its branches are removed from `folded`. */
function fold(error: ErrorObject, folded: FoldedFault[], nodes: SchemaNodes): readonly FoldedFault[] {
  const { keyword, parentSchema } = error;
  const branches = branchesOf(error);
  const inner = branches.length > 0 ? takeBack(folded, error.instancePath, branches, nodes) : [];
  if (branches.length === 0 && !SENTENCE_RULES.includes(keyword)) return [{ error }];
  const sentence = messageOf(parentSchema) ?? toSentence(error);
  if (sentence !== undefined) return [{ error, sentence }];
  if (keyword === "anyOf" || keyword === "oneOf") return meantBranches(error, inner, nodes);
  return keyword === "if" || keyword === "propertyNames" ? inner : [{ error }];
}

/** The branches of a fault: the schemas whose faults Ajv has reported just before it. */
function branchesOf({ keyword, schema, parentSchema }: ErrorObject): readonly unknown[] {
  if (keyword === "anyOf" || keyword === "oneOf") return schema as unknown[];
  if (keyword === "if") return [parentSchema?.then, parentSchema?.else];
  return keyword === "propertyNames" || keyword === "contains" ? [schema] : [];
}

/** Removes the trailing faults that concern this value or a part of it and come from these branches. */
function takeBack(folded: FoldedFault[], path: string, branches: readonly unknown[], nodes: SchemaNodes) {
  let start = folded.length;
  while (start > 0) {
    const { error } = folded[start - 1] as FoldedFault;
    if (!isWithin(error.instancePath, path) || !branches.some((branch) => isOf(error, branch, nodes))) break;
    start--;
  }
  return folded.splice(start);
}

const isOf = (error: ErrorObject, branch: unknown, nodes: SchemaNodes): boolean =>
  nodes.reach(branch).has(error.parentSchema);

const isWithin = (path: string, outer: string): boolean => path === outer || path.startsWith(`${outer}/`);

const messageOf = (schema: unknown): string | undefined => {
  const message = isObject(schema) ? schema["x-message"] : undefined;
  return typeof message === "string" ? message : undefined;
};

/** The sentence for a rule about which fields must be given together; undefined for other rules. */
function toSentence({ keyword, schema, params }: ErrorObject): string | undefined {
  if (keyword === "not") {
    const [names] = requiredBy([schema]);
    return names === undefined ? undefined : `${names} cannot be given together`;
  }
  if (keyword !== "anyOf" && keyword !== "oneOf") return undefined;
  const alternatives = requiredBy(schema as unknown[]).join(", ");
  if (alternatives) return `${keyword === "oneOf" ? "exactly" : "at least"} one of ${alternatives} must be given`;
  return params.passingSchemas ? "this fits more than one of the forms that exclude each other" : undefined;
}

/** The fields that each branch requires; empty when a branch has another kind of rule. */
function requiredBy(branches: readonly unknown[]): string[] {
  const names = branches.map((branch) =>
    isObject(branch) &&
    Array.isArray(branch.required) &&
    Object.keys(branch).every((key) => /^(required|not|type)$/.test(key))
      ? branch.required.join(" and ")
      : undefined,
  );
  return names.every((name) => name !== undefined) ? names : [];
}

/** The faults of the branches that match the value's type, else all type mismatches. `null` branches are ignored. */
function meantBranches(whole: ErrorObject, inner: readonly FoldedFault[], nodes: SchemaNodes): FoldedFault[] {
  const isMismatch = ({ error }: FoldedFault): boolean =>
    error.keyword === "type" && error.instancePath === whole.instancePath;
  const branches = (whole.schema as unknown[])
    .map((branch) => inner.filter(({ error }) => isOf(error, branch, nodes)))
    .filter((faults) => !faults.some((fault) => isMismatch(fault) && fault.error.schema === "null"));
  const fitting = branches.filter((faults) => !faults.some(isMismatch)).flat();
  const meant = fitting.length > 0 ? fitting : branches.flat().filter(isMismatch);
  return meant.length > 0 ? meant : [{ error: whole, sentence: "this fits none of the allowed forms" }];
}

const rankOf = ({ error, sentence }: FoldedFault): number =>
  sentence === undefined ? SCALAR_RULES.findIndex((keywords) => keywords.includes(error.keyword)) : -1;

/** Keeps one fault per scalar and schema. For a value of a wrong type, faults of its content are dropped. */
function withoutRivals(faults: readonly FoldedFault[]): FoldedFault[] {
  const mistyped = new Set(faults.flatMap(({ error }) => (error.keyword === "type" ? [error.instancePath] : [])));
  const kept: FoldedFault[] = [];
  const places = new Map<string, number[]>();
  for (const fault of faults) {
    const rank = rankOf(fault);
    const { instancePath, parentSchema } = fault.error;
    if (rank < 0 && mistyped.has(instancePath)) continue;
    const known = places.get(instancePath) ?? [];
    const rival = known.find((at) => rank >= 0 && (kept[at] as FoldedFault).error.parentSchema === parentSchema);
    if (rival === undefined) {
      if (rank >= 0) places.set(instancePath, [...known, kept.length]);
      kept.push(fault);
    } else if (rank < rankOf(kept[rival] as FoldedFault)) kept[rival] = fault;
  }
  return kept;
}
