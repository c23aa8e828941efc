import { isSameJson } from "../digest.ts";
import { tryParseJson } from "../json.ts";
import { explainPointer, valueAt } from "./pointer.ts";

/** A condition of an answer: `/status == "done"`, `/state in ["ok"]`, `/result`, `status == 200`. */
export interface Condition {
  /** A JSON Pointer; undefined for the HTTP status. */
  readonly pointer: string | undefined;
  /** The values that fulfil it, or with `isNot` those that do not; undefined when any value fulfils it. */
  readonly values: readonly unknown[] | undefined;
  readonly isNot: boolean;
}

/** An answer that is tested for conditions. */
export interface Conditioned {
  readonly status: number;
  /** Undefined when it cannot be read: such an answer fulfils no condition of a body. */
  readonly body: unknown;
}

const PARTS = /^\s*(status|\/[^\s=!]*)\s*(?:(==|!=|in)\s*(.+?)\s*)?$/;

const OF_HTTP = "status is the number of the HTTP answer; a field of the answer is written /status";

/** Reads a condition; returns a sentence when it is malformed. */
export function readCondition(text: string): Condition | string {
  const [, place = "", operator, literal] = PARTS.exec(text) ?? [];
  if (place === "") return 'write a condition such as /status == "done", /state in ["ok", "ready"], or status == 200';
  const pointer = place === "status" ? undefined : place;
  const fault = pointer && explainPointer(pointer);
  if (fault) return fault;
  if (operator === undefined)
    return pointer === undefined ? "write which status: status == 200" : { pointer, values: undefined, isNot: false };
  const value = tryParseJson(literal ?? "");
  if (value === undefined && pointer === undefined) return OF_HTTP;
  if (value === undefined) return `${literal} is not a JSON value; put a text in double quotes: "${literal}"`;
  if (operator === "in" && !Array.isArray(value)) return 'after "in" stands a list, such as ["ok", "ready"]';
  const values = operator === "in" ? (value as unknown[]) : [value];
  if (pointer === undefined && !values.every(Number.isInteger)) return OF_HTTP;
  return { pointer, values, isNot: operator === "!=" };
}

/** Whether an answer fulfils a condition. A missing field counts as null. */
export function holds({ pointer, values, isNot }: Condition, { status, body }: Conditioned): boolean {
  if (pointer !== undefined && body === undefined) return false;
  const found = pointer === undefined ? status : valueAt(body, pointer);
  if (!values) return found !== undefined && found !== null && found !== false;
  return values.some((value) => isSameJson(value, found ?? null)) !== isNot;
}
