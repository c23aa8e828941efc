import { SaxesParser } from "saxes";
import { isObject } from "../../core/json.ts";

/** The kinds of values at each path of a body, like `prices[].usd` → `number`; for XML, the paths of its elements. */
export type BodyShape = ReadonlyMap<string, ReadonlySet<string>>;

/** The shape of a body of JSON or XML; any other body is just `text`. */
export function shapeOf(text: string): BodyShape {
  return tryShape(() => shapeOfJson(JSON.parse(text))) ?? tryShape(() => shapeOfXml(text)) ?? new Map([["", TEXT]]);
}

/** The differences between two shapes: `+ path`, `- path`, `path: number, was string`. */
export function compareShapes(old: BodyShape, now: BodyShape): string[] {
  const added = [...now.keys()].filter((path) => !old.has(path)).map((path) => `+ ${path}`);
  const removed = [...old.keys()].filter((path) => !now.has(path)).map((path) => `- ${path}`);
  const changed = [...old].flatMap(([path, kinds]) => {
    const others = now.get(path);
    if (!others || toWords(others) === toWords(kinds)) return [];
    return [`${path || "the body"}: ${toWords(others)}, was ${toWords(kinds)}`];
  });
  return [...added, ...removed, ...changed];
}

const TEXT: ReadonlySet<string> = new Set(["text"]);
/** Object keys that are data (addresses, hashes, selectors): hex with 0x, base58 with a digit in it, or a number. */
const DATA_KEY = /^(0x[0-9a-fA-F]{8,}|(?=.*[1-9])[1-9A-HJ-NP-Za-km-z]{32,88}|[0-9]+)$/;

function shapeOfJson(value: unknown): BodyShape {
  const shape = new Map<string, Set<string>>();
  const visit = (part: unknown, path: string): void => {
    shape.set(path, (shape.get(path) ?? new Set()).add(kindOf(part)));
    if (Array.isArray(part)) for (const element of part) visit(element, `${path}[]`);
    if (isObject(part)) for (const [key, inner] of Object.entries(part)) visit(inner, join(path, key));
  };
  visit(value, "");
  return shape;
}

const kindOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

const join = (path: string, key: string): string => [path, DATA_KEY.test(key) ? "*" : key].filter(Boolean).join(".");

function shapeOfXml(text: string): BodyShape {
  const shape = new Map<string, Set<string>>();
  const path: string[] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name }) => {
    path.push(name);
    shape.set(path.join("/"), new Set(["element"]));
  });
  parser.on("closetag", () => void path.pop());
  parser.write(text).close();
  return shape;
}

/** Undefined when the body cannot be parsed. */
function tryShape(read: () => BodyShape): BodyShape | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const toWords = (kinds: ReadonlySet<string>): string => [...kinds].sort().join(" or ");
