import { join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Fault } from "../../../core/set/faults.ts";

/** payphone itself, which may be installed in the shop, as stacks name it and as a path. */
const OWN = new URL("../../../", import.meta.url).href;
const RUNTIME = fileURLToPath(OWN);

/** The place of an error in a plugin. */
export type FaultPlace = Pick<Fault, "file" | "line" | "column">;

/**
 * The first place in the set's own files that an error names, or else in its packages, payphone excepted: a syntax
 * error, a failed import, or a thrown error.
 */
export function placeOf(error: unknown, dir: string): FaultPlace | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const roots = [pathToFileURL(dir + sep).href, dir + sep].map(escapePattern).join("|");
  const places = new RegExp(`(?:${roots})([^\\s:?()]+)(?:\\?v=[0-9a-f.]+)?:(\\d+)(?::(\\d+))?`, "g");
  const all = [...stack.matchAll(places)].filter(([, file = ""]) => !join(dir, file).startsWith(RUNTIME));
  const found = all.find(([, file]) => !file?.startsWith("node_modules")) ?? all[0];
  if (!found) return undefined;
  const [, file = "", line = "1", column] = found;
  return { file: file.replaceAll(sep, "/"), line: Number(line), column: Number(column ?? caretOf(stack)) };
}

/** The place in a plugin where an error was thrown, ` (plugins/toss.ts:7)`, for lines that have no stack; or nothing. */
export function toThrownAt(stack: unknown): string {
  const foreign = String(stack)
    .split("\n")
    .filter((line) => !line.includes(OWN)); // payphone has a folder of this name, too.
  const found = /\/(plugins\/(?!\S*node_modules)[^\s?:()]+)(?:\?v=[0-9a-f.]+)?:(\d+)/.exec(foreign.join("\n"));
  return found ? ` (${found[1]}:${found[2]})` : "";
}

/** Node's words for what it does not run, and what is right instead. */
const REMEDIES: readonly [words: RegExp, remedy: string][] = [
  // Below a package.json of "commonjs", as `npm init` writes it.
  [
    /^Cannot use import statement outside a module|^Unexpected token 'export'/,
    `set "type": "module" in the shop's package.json`,
  ],
  [/^TypeScript .* is not supported in strip-only mode/, "Node only leaves types out, so write it as in JavaScript"],
  [/does not provide an export named '[A-Z]/, 'if it is a type, write "import type"'],
];

/** The first line of the error, with paths relative to the directory, and what is right instead. */
export function explain(error: unknown, dir: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const [line = ""] = message.trim().split("\n");
  const [, remedy] = REMEDIES.find(([words]) => words.test(line)) ?? [];
  const plain = line.replaceAll(/\?v=[0-9a-f.]+/g, "").replaceAll(pathToFileURL(dir + sep).href, "");
  return plain.replaceAll(dir + sep, "") + (remedy === undefined ? "" : `: ${remedy}`);
}

/** The column of the caret that Node prints below the line of a syntax error. */
const caretOf = (stack: string): number => (/^( *)\^/m.exec(stack)?.[1]?.length ?? 0) + 1;

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
