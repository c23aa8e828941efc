import { isUtf8 } from "node:buffer";
import { Problem } from "../../api/problem.ts";
import { findJsonFault, type JsonFault } from "./json-fault.ts";

const UTF8 = new TextDecoder("utf-8", { fatal: true });
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENERS = [0x5b, 0x7b]; // [ {
const CLOSERS = [0x5d, 0x7d]; // ] }

/**
 * Reads a JSON body: UTF-8, with or without a byte order mark, nested at most `maxDepth` deep.
 * @throws Problem `invalid-input` with one issue of type `json_invalid`.
 */
export function parseJson(bytes: Buffer, maxDepth: number): unknown {
  const text = toText(bytes);
  const position = findTooDeep(bytes, maxDepth);
  if (position !== undefined) throw toInvalidJson({ position, error: `Nested more than ${maxDepth} levels deep` });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw toInvalidJson(findJsonFault(text), cause);
  }
}

/** Whether the bytes are UTF-8 and nested at most `maxDepth` deep, and so can be parsed safely. */
export function isSafeToParse(bytes: Buffer, maxDepth: number): boolean {
  return isUtf8(bytes) && findTooDeep(bytes, maxDepth) === undefined;
}

function toText(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    const position = Math.max(0, bytes.toString().indexOf("\ufffd"));
    throw toInvalidJson({ position, error: "Invalid UTF-8" }, cause);
  }
}

/** Where nesting first exceeds `maxDepth`; brackets inside strings do not count. */
function findTooDeep(bytes: Buffer, maxDepth: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) quoted = !quoted;
    else if (quoted) at += byte === BACKSLASH ? 1 : 0;
    else if (OPENERS.includes(byte) && ++depth > maxDepth) return at;
    else if (CLOSERS.includes(byte)) depth--;
  }
  return undefined;
}

/** As FastAPI reports invalid JSON: see runtime/docs/decisions/input-faults.md. */
function toInvalidJson({ position, error }: JsonFault, cause?: unknown): Problem {
  const issue = { type: "json_invalid", loc: ["body", position], msg: "JSON decode error", input: {}, ctx: { error } };
  return new Problem("invalid-input", undefined, { issues: [issue], cause });
}
