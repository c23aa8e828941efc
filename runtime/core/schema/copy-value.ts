import type { ValidationIssue } from "../../api/problem.ts";
import { type IssueText, valueError } from "./pydantic-issues.ts";
import type { Shape } from "./shape.ts";

/** Bodies are refused at the site's `body_depth`, which is at most 256; handlers' outputs have no such limit. */
const DEEPEST = 300;
const MOST_FAULTS = 20;
const INFINITE: IssueText = { type: "finite_number", msg: "Input should be a finite number" };

/** A copy of a value, cut to its shape, with its defaults and without the `null`s that mean absent. */
export interface Copied {
  readonly value: unknown;
  /** What is not JSON, or nested too deeply. */
  readonly issues: readonly ValidationIssue[];
  /** Puts back those `null`s that the schema allows: absent for every rule, yet kept in the value. */
  readonly restoreNulls: () => void;
}

interface Progress {
  readonly path: (string | number)[];
  readonly issues: ValidationIssue[];
  readonly nulls: [object: Record<string, unknown>, name: string][];
}

/** @param from the first element of every `loc`. */
export function copyValue(value: unknown, shape: Shape, from: string): Copied {
  const progress: Progress = { path: [], issues: [], nulls: [] };
  const copied = copy(value, shape, from, progress);
  const restoreNulls = (): void => {
    for (const [object, name] of progress.nulls) object[name] = null;
  };
  return { value: copied, issues: progress.issues, restoreNulls };
}

function copy(value: unknown, shape: Shape, key: string | number, progress: Progress): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) refuse(INFINITE, key, progress);
    return value;
  }
  if (!isPlain(value)) return refuse(valueError("this is not JSON data"), key, progress);
  if (!(isList(value) ? shape.takesList : shape.takesObject)) return value;
  if (progress.path.length === DEEPEST) {
    return refuse(valueError(`nested more than ${DEEPEST} levels deep`), key, progress);
  }
  progress.path.push(key);
  const copied = isList(value) ? copyArray(value, shape, progress) : copyObject(value, shape, progress);
  progress.path.pop();
  return copied;
}

function copyArray(value: readonly unknown[], shape: Shape, progress: Progress): unknown[] {
  const copied: unknown[] = [];
  for (let at = 0; at < value.length; at++) copied.push(copy(value[at], shape.itemAt(at), at, progress));
  return copied;
}

/**
 * Asks for each named field, so that a thousand fields that nobody named cost nothing. Defaults are filled in here: Ajv
 * refuses them below `anyOf`, although it is clear what they mean where the other branch is null.
 */
function copyObject(value: Readonly<Record<string, unknown>>, shape: Shape, progress: Progress): object {
  const copied: Record<string, unknown> = {};
  for (const field of shape.fields) {
    const { name, nullable } = field;
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const found = given === undefined || (given === null && field.optional && !nullable) ? field.default : given;
    if (found === null && field.optional && nullable) progress.nulls.push([copied, name]);
    else if (found !== undefined) put(copied, name, copy(found, field.shape(), name, progress));
  }
  const rest = shape.rest();
  if (!rest) return copied;
  for (const name of Object.keys(value)) {
    const found = value[name];
    if (found !== undefined && !shape.names.has(name)) put(copied, name, copy(found, rest, name, progress));
  }
  return copied;
}

/** `__proto__` is a field like any other, in JSON. */
function put(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

function refuse(issueText: IssueText, key: string | number, { path, issues }: Progress): void {
  if (issues.length < MOST_FAULTS) issues.push({ ...issueText, loc: [...path, key] });
}

/** `Array.isArray` does not tell a readonly array from an object. */
const isList = (value: object): value is readonly unknown[] => Array.isArray(value);

function isPlain(value: unknown): value is readonly unknown[] | Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
