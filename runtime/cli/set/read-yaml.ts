import {
  type Document,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Scalar,
  visit,
  type YAMLError,
} from "yaml";
import type { Path } from "../../core/schema/nodes.ts";
import type { Fault, FaultCode, SourceFile } from "../../core/set/faults.ts";

/** The content of a file and the faults of its syntax. */
export interface Reading {
  /** Omitted when the syntax is broken. */
  readonly source?: SourceFile;
  readonly faults: readonly Fault[];
}

const MOST_ALIASES = 100;
/** Such a text has no canonical form (RFC 8785), by which sets are compared and calls are told apart. */
export const HALF_CHARACTER =
  "this text has half of a character in it (a lone surrogate); complete it, or leave it out";

/** Reads YAML 1.2 strictly: one document, no duplicate keys, no unknown tags, no circular or exploding aliases. */
export function readYaml(file: string, text: string): Reading {
  const lines = new LineCounter();
  const options = { version: "1.2", lineCounter: lines, prettyErrors: false, uniqueKeys: false } as const;
  const document = parseDocument(text, options);
  const placeAt = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const faultOf = (offset: number, code: FaultCode, message: string): Fault => ({
    file,
    ...placeAt(offset),
    code,
    message,
  });

  const [error] = [...document.errors, ...document.warnings];
  // After the first error, the parser only guesses.
  if (error) return { faults: [faultOf(error.pos[0], "syntax-error", explain(error))] };
  const lost = findLostAlias(document);
  if (lost)
    return { faults: [faultOf(lost.offset, "syntax-error", `no anchor &${lost.name} stands before this alias`)] };
  const unsafe = findUnsafeAlias(document);
  if (unsafe) return { faults: [faultOf(unsafe.offset, "unsafe-alias", unsafe.message)] };
  const faults = findTwice(document).map(({ key, first, offset }) =>
    faultOf(offset, "duplicate-key", `${key}: stands in the mapping twice, first in line ${placeAt(first).line}`),
  );
  keepWritten(document);
  for (const { range, source, value } of findRounded(document))
    faults.push(faultOf(range?.[0] ?? 0, "out-of-range", `${source}: would be sent as ${value}; put it in quotes`));
  for (const { range, value } of findUnquoted(document))
    faults.push(faultOf(range?.[0] ?? 0, "bad-placeholder", toUnquoted(String(value))));
  for (const { range } of findBroken(document)) faults.push(faultOf(range?.[0] ?? 0, "bad-text", HALF_CHARACTER));
  const source: SourceFile = {
    file,
    data: document.toJS({ maxAliasCount: -1 }),
    locate: (path, part = "value") => placeAt(offsetOf(document, path, part)),
  };
  return { source, faults };
}

function explain({ code, message }: YAMLError): string {
  if (code === "MULTIPLE_DOCS") return "a file holds one document; another begins here";
  if (message.startsWith("Maximum call stack")) return "nested too deeply";
  const remedy = message.endsWith("at node end") ? QUOTES : REMEDIES[code];
  return remedy ? `${message}; ${remedy}` : message;
}

const QUOTES = "put the whole text in quotes";
/** How to mend what the parser names in the words of YAML's grammar only. */
const REMEDIES: Partial<Record<YAMLError["code"], string>> = {
  BAD_SCALAR_START: QUOTES,
  BLOCK_AS_IMPLICIT_KEY: 'put a text that contains ": " in quotes, and begin all keys of a mapping in one column',
  BLOCK_IN_FLOW: 'put a text that contains ": " in quotes',
  MULTILINE_IMPLICIT_KEY: "write a colon and a space after the key",
};

interface Twice {
  readonly key: string;
  readonly first: number;
  readonly offset: number;
}

/** The keys that stand in a mapping again. The parser compares each key with all others, which takes it minutes. */
function findTwice(document: Document.Parsed): readonly Twice[] {
  const found: Twice[] = [];
  visit(document, {
    Map(_at, { items }) {
      const seen = new Map<string, number>();
      for (const { key: node } of items) {
        if (!isScalar(node)) continue;
        const [key, offset] = [String(node.value), node.range?.[0] ?? 0];
        const first = seen.get(key);
        if (first === undefined) seen.set(key, offset);
        else found.push({ key, first, offset });
      }
    },
  });
  return found;
}

/** The integers that are sent, as constants of a request or as defaults, and have other digits than they were written with. */
function findRounded(document: Document.Parsed): readonly Scalar[] {
  const found: Scalar[] = [];
  visit(document, {
    Scalar(at, node, path) {
      const keys = path.filter(isPair).map(({ key }) => String(key));
      const isSent = at !== "key" && (keys[0] === "proxy" || keys.at(-1) === "default");
      const { value, source = "" } = node;
      if (isSent && typeof value === "number" && /^-?\d{16,}$/.test(source) && String(value) !== source)
        found.push(node);
    },
  });
  return found;
}

const toUnquoted = (name: string): string =>
  `{${name}} is a mapping in YAML; write "{${name}}", or { ${name}: null } where a mapping is meant`;

/** The placeholders in a body that lack their quotes: each is a mapping with a key and no value, and would be sent as one. */
function findUnquoted(document: Document.Parsed): readonly Scalar[] {
  const found: Scalar[] = [];
  visit(document, {
    Map(_at, { flow, items: [pair, ...others] }, path) {
      const [first, second] = path.filter(isPair).map(({ key }) => String(key));
      const isAlone = flow === true && others.length === 0 && isScalar(pair?.key) && pair.value === null;
      if (first === "proxy" && second === "body" && isAlone) found.push(pair.key as Scalar);
    },
  });
  return found;
}

function findBroken(document: Document.Parsed): readonly Scalar[] {
  const found: Scalar[] = [];
  visit(document, {
    Scalar(_at, node) {
      if (typeof node.value === "string" && !node.value.isWellFormed()) found.push(node);
    },
  });
  return found;
}

/**
 * Keeps the numbers of a query or a form as they are written: they are sent as texts, and an API may tell `1.10` from `1.1`,
 * `01067` from `1067`, and `+49` from `49`. A mapping in a form is sent as JSON, whose numbers stay numbers.
 */
function keepWritten(document: Document.Parsed): void {
  const isForm = /^(?:form|multipart)$/.test(String(document.getIn(["proxy", "encoding"])));
  visit(document, {
    Scalar(at, node, path) {
      const [first, second, ...fields] = path.filter(isPair).map(({ key }) => String(key));
      const isText = first === "proxy" && (second === "query" || (second === "body" && isForm)) && fields.length === 1;
      const { value, source = String(value) } = node;
      if (at !== "key" && isText && Number.isFinite(value) && String(value) !== source) node.value = source;
    },
  });
}

/** The first alias of something that the file has not named before. */
function findLostAlias(document: Document.Parsed): { offset: number; name: string } | undefined {
  let lost: { offset: number; name: string } | undefined;
  visit(document, {
    Alias(_key, node) {
      if (node.resolve(document)) return undefined;
      lost = { offset: node.range?.[0] ?? 0, name: node.source };
      return visit.BREAK;
    },
  });
  return lost;
}

/** A circular alias, or the first alias beyond the limit. */
function findUnsafeAlias(document: Document.Parsed): { offset: number; message: string } | undefined {
  const aliases: number[] = [];
  let circular: number | undefined;
  visit(document, {
    Alias(_key, node, path) {
      aliases.push(node.range?.[0] ?? 0);
      const meant = node.resolve(document);
      if (meant && path.includes(meant)) circular ??= node.range?.[0] ?? 0;
    },
  });
  if (circular !== undefined) return { offset: circular, message: "the alias stands inside the thing that it repeats" };
  const [first] = aliases;
  if (first === undefined) return undefined;
  try {
    document.toJS({ maxAliasCount: MOST_ALIASES });
    return undefined;
  } catch {
    return { offset: first, message: `the aliases of this file repeat more than ${MOST_ALIASES} things` };
  }
}

/** The offset of a value or its key. When the path does not exist, the offset of the nearest enclosing value. */
function offsetOf(document: Document.Parsed, path: Path, part: "key" | "value"): number {
  let node: unknown = document.contents;
  let key: unknown;
  for (const step of path) {
    const next = stepInto(node, step);
    key = next?.[0];
    if (!next) break;
    node = next[1];
  }
  const place = part === "key" && key ? key : node;
  return (place as { range?: [number, number, number] } | null)?.range?.[0] ?? 0;
}

function stepInto(node: unknown, step: string | number): [key: unknown, value: unknown] | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    return item === undefined ? undefined : [undefined, item];
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
  return pair && [pair.key, pair.value ?? pair.key];
}
