import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** V8's report of one script. */
interface Script {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}
interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** One file in one process. */
export interface Report {
  /** Relative to the root. */
  readonly file: string;
  /** A function's first range is the whole of it; an inner range comes later and overrules an outer one. */
  readonly ranges: readonly Range[];
}

/** What processes with NODE_V8_COVERAGE set to this folder have left in it: those that ended by themselves. */
export function readReports(folder: string, root: string): Report[] {
  return readdirSync(folder).flatMap((name) =>
    readScripts(join(folder, name))
      .filter(({ url }) => url.startsWith("file:") && !url.includes("/node_modules/"))
      .map(({ url, functions }) => ({
        file: relative(root, fileURLToPath(url)),
        ranges: functions.flatMap((one) => one.ranges),
      })),
  );
}

/** None where the process was killed while it wrote them. */
function readScripts(path: string): readonly Script[] {
  try {
    return JSON.parse(readFileSync(path, "utf8")).result;
  } catch {
    return [];
  }
}

/** @param offset in the source: Node strips types without moving anything. */
export function isExecuted({ ranges }: Report, offset: number): boolean {
  const inner = ranges.findLast(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset);
  return inner !== undefined && inner.count > 0;
}
