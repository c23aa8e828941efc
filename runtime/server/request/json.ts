import { isUtf8 } from "node:buffer";
import { Problem } from "../../api/problem.ts";
import { findJsonFault, type JsonFault } from "./json-fault.ts";

/** What the bytes of JSON show before it is parsed. */
export interface JsonShape {
  /** The number of fields of all objects; duplicate names count. */
  readonly fields: number;
  /** Where nesting first exceeds the bound. */
  readonly tooDeepAt?: number;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });
const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Reads a JSON body: UTF-8, with or without a byte order mark, nested at most `maxDepth` deep.
 * @param shape of these bytes @throws Problem `invalid-input` with one issue of type `json_invalid`.
 */
export function parseJson(bytes: Buffer, maxDepth: number, shape: JsonShape): unknown {
  const { tooDeepAt: position } = shape;
  const text = toText(bytes);
  if (position !== undefined) throw toInvalidJson({ position, error: `Nested more than ${maxDepth} levels deep` });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw toInvalidJson(findJsonFault(text), cause);
  }
}

/** Whether the bytes are UTF-8 and nested at most `maxDepth` deep, and so can be parsed safely. */
export const isSafeToParse = (bytes: Buffer, { tooDeepAt }: JsonShape): boolean =>
  tooDeepAt === undefined && isUtf8(bytes);

function toText(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    const position = Math.max(0, bytes.toString().indexOf("\ufffd"));
    throw toInvalidJson({ position, error: "Invalid UTF-8" }, cause);
  }
}

/** Scans the bytes of JSON once, skipping the content of strings. */
export function jsonShapeOf(bytes: Buffer, maxDepth: number): JsonShape {
  let depth = 0;
  let fields = 0;
  let quoted = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) quoted = !quoted;
    else if (quoted) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COLON) fields += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    else if ((byte === OPEN_LIST || byte === OPEN_OBJECT) && ++depth > maxDepth) return { fields, tooDeepAt: at };
  }
  return { fields };
}

/** As FastAPI reports invalid JSON: see runtime/docs/decisions/input-faults.md. */
function toInvalidJson({ position, error }: JsonFault, cause?: unknown): Problem {
  const issue = { type: "json_invalid", loc: ["body", position], msg: "JSON decode error", input: {}, ctx: { error } };
  return new Problem("invalid-input", undefined, { issues: [issue], cause });
}
