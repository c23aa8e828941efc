import type { ValidationIssue } from "../../api/problem.ts";
import { type IssueText, valueError } from "./pydantic-issues.ts";
import type { FieldShape, Shape } from "./shape.ts";

/** More than the depth of any body, which the site limits to 256 at most. Handlers' outputs have no other limit. */
const DEEPEST = 300;
const MOST_FAULTS = 20;
const INFINITE: IssueText = { type: "finite_number", msg: "Input should be a finite number" };

/** A copy of a value, reduced to its shape, with defaults filled in and without the `null`s that mean absent. */
export interface Copied {
  readonly value: unknown;
  /** The parts that are not JSON, or nested too deeply. */
  readonly issues: readonly ValidationIssue[];
  /** Restores the `null`s that the schema allows; during the check they were treated as absent. Returns whether any were. */
  readonly restoreNulls: () => boolean;
}

/** What a copy is for: see `Schema.check`. */
export type CopyUse = "input" | "passed" | "output";

interface Progress {
  readonly path: (string | number)[];
  readonly issues: ValidationIssue[];
  readonly nulls: [object: Record<string, unknown>, name: string][];
  readonly use: CopyUse;
}

/** Copies a value for its check. @param from the first element of every `loc`. @param use see `Schema.check`. */
export function copyValue(value: unknown, shape: Shape, from: string, use: CopyUse): Copied {
  const progress: Progress = { path: [], issues: [], nulls: [], use };
  const copied = copy(value, shape, from, progress);
  const restoreNulls = (): boolean => {
    for (const [object, name] of progress.nulls) object[name] = null;
    return progress.nulls.length > 0;
  };
  return { value: copied, issues: progress.issues, restoreNulls };
}

function copy(value: unknown, shape: Shape, key: string | number, progress: Progress): unknown {
  if (isEnough(progress)) return undefined; // A value that leads back to itself has parts without end.
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
  if (shape.isFree && progress.use !== "output" && hasFiniteNumbers(value)) return value;
  progress.path.push(key);
  const copied = isList(value) ? copyArray(value, shape, progress) : copyObject(value, shape, progress);
  progress.path.pop();
  return copied;
}

function copyArray(value: readonly unknown[], shape: Shape, progress: Progress): unknown[] {
  const copied: unknown[] = [];
  for (let at = 0; at < value.length && !isEnough(progress); at++)
    copied.push(copy(value[at], shape.itemAt(at), at, progress));
  return copied;
}

/**
 * Iterates over the named fields, so that a thousand unknown fields cost nothing. Defaults are filled in here, because
 * Ajv refuses defaults below `anyOf`, even when the other branch is only `null`.
 */
function copyObject(value: Readonly<Record<string, unknown>>, shape: Shape, progress: Progress): object {
  const copied: Record<string, unknown> = {};
  for (const field of shape.fields) {
    const { name, nullable } = field;
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const isAbsent = given === undefined || (given === null && field.optional && !nullable);
    const found = isAbsent ? ownDefault(field) : given;
    if (found === null && field.optional && nullable) {
      if (progress.use !== "input" || field.default !== undefined) progress.nulls.push([copied, name]);
    } else if (found !== undefined) put(copied, name, copy(found, field.shape(), name, progress));
  }
  const rest = shape.rest();
  if (!rest) return copied;
  for (const name of Object.keys(value)) {
    const found = value[name];
    if (found !== undefined && !shape.names.has(name)) put(copied, name, copy(found, rest, name, progress));
  }
  return copied;
}

/** A copy, since handlers may change what they get. */
const ownDefault = ({ default: value }: FieldShape): unknown =>
  typeof value === "object" ? structuredClone(value) : value;

/** Whether no number is infinite: JSON.parse reads 1e400 as Infinity. */
export function hasFiniteNumbers(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (isList(value)) return value.every(hasFiniteNumbers);
  for (const name in value) if (!hasFiniteNumbers((value as Readonly<Record<string, unknown>>)[name])) return false;
  return true;
}

/** In JSON, `__proto__` is a field like any other. */
function put(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

function refuse(issueText: IssueText, key: string | number, { path, issues }: Progress): void {
  issues.push({ ...issueText, loc: [...path, key] });
}

const isEnough = ({ issues }: Progress): boolean => issues.length === MOST_FAULTS;

/** `Array.isArray` as a type guard that also narrows readonly arrays. */
const isList = (value: object): value is readonly unknown[] => Array.isArray(value);

function isPlain(value: unknown): value is readonly unknown[] | Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
