import { sep } from "node:path";
import { pathToFileURL } from "node:url";

/** Where an error of a plugin arose. */
export interface FaultPlace {
  /** Relative to the directory of the set, with `/`. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The first place in a set's own files that an error names: of its syntax, its imports, or what it threw. */
export function placeOf(error: unknown, dir: string): FaultPlace | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const roots = [pathToFileURL(dir + sep).href, dir + sep].map(escapePattern).join("|");
  const found = new RegExp(`(?:${roots})([^\\s:?()]+)(?:\\?v=[0-9a-f.]+)?:(\\d+)(?::(\\d+))?`).exec(stack);
  if (!found) return undefined;
  const [, file = "", line = "1", column] = found;
  return { file: file.replaceAll(sep, "/"), line: Number(line), column: Number(column ?? caretOf(stack)) };
}

/** The column of the mark that Node draws below the line of a syntax error. */
const caretOf = (stack: string): number => (/^( *)\^/m.exec(stack)?.[1]?.length ?? 0) + 1;

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
