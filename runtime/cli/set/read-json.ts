import type { Fault, Position, SourceFile } from "../../core/set/faults.ts";
import { HALF_CHARACTER, type Reading } from "./read-yaml.ts";

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]|[^\s{}[\],":]+/g;

/** Reads JSON with the position of each part. A duplicate key in an object is a fault; a byte order mark is not. */
export function readJson(file: string, written: string): Reading {
  const text = written.replace(/^\uFEFF/, "");
  const placeAt = (offset: number): Position => {
    const before = text.slice(0, offset).split("\n");
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  };
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    const place = placeAt(findError(text, (error as Error).message));
    const message = (error as Error).message.replace(/(?:,? \.{0,3}".*| in JSON at position .*)$/s, "");
    return { faults: [{ file, ...place, code: "syntax-error", message }] };
  }
  const { values, keys, twice, broken } = scan(text);
  const source: SourceFile = {
    file,
    data,
    locate: (path, part = "value") => {
      for (let length = path.length; length > 0; length--) {
        const at = JSON.stringify(path.slice(0, length).map(String));
        const found = part === "key" && length === path.length ? (keys.get(at) ?? values.get(at)) : values.get(at);
        if (found !== undefined) return placeAt(found);
      }
      return placeAt(values.get("[]") ?? 0);
    },
  };
  const faults = twice.map(({ key, first, offset }): Fault => {
    const message = `${key}: stands in the object twice, first in line ${placeAt(first).line}`;
    return { file, ...placeAt(offset), code: "duplicate-key", message };
  });
  for (const offset of broken) faults.push({ file, ...placeAt(offset), code: "bad-text", message: HALF_CHARACTER });
  return { source, faults };
}

/**
 * The offset of the first error. V8 names the position of most errors; for an unexpected token, the shortest prefix
 * with the same error ends there.
 */
function findError(text: string, message: string): number {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  if (position !== undefined) return Number(position);
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (hasUnexpectedToken(text.slice(0, middle))) bad = middle;
    else good = middle;
  }
  return bad - 1;
}

function hasUnexpectedToken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return (error as Error).message.startsWith("Unexpected token");
  }
}

interface Scan {
  /** Offsets by path; a path is the JSON of its steps, as strings. */
  readonly values: Map<string, number>;
  readonly keys: Map<string, number>;
  readonly twice: { readonly key: string; readonly first: number; readonly offset: number }[];
  /** The offsets of the texts with half a surrogate pair. */
  readonly broken: number[];
}

/** Scans the tokens of valid JSON. */
function scan(text: string): Scan {
  const found: Scan = { values: new Map(), keys: new Map(), twice: [], broken: [] };
  const path: string[] = [];
  const open: ("object" | "array")[] = [];
  let expectsKey = false;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token.startsWith('"') && !(JSON.parse(token) as string).isWellFormed()) found.broken.push(index);
    if (token === "}" || token === "]") {
      if (open.pop() === "array" || !expectsKey) path.pop();
      expectsKey = false;
    } else if (token === ",") {
      expectsKey = open.at(-1) === "object";
      const last = path.pop();
      if (!expectsKey) path.push(String(Number(last) + 1));
    } else if (expectsKey) {
      path.push(JSON.parse(token));
      const at = JSON.stringify(path);
      const first = found.keys.get(at);
      if (first !== undefined) found.twice.push({ key: path.at(-1) as string, first, offset: index });
      found.keys.set(at, index);
      expectsKey = false;
    } else {
      found.values.set(JSON.stringify(path), index);
      if (token === "{" || token === "[") {
        open.push(token === "{" ? "object" : "array");
        expectsKey = token === "{";
        if (token === "[") path.push("0");
      }
    }
  }
  return found;
}
