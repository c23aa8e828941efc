import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../core/json.ts";
import type { Exchange, Recording } from "../../sandbox/recordings/recordings.ts";

/** Columns of a line, as this repository's formatter counts them. */
const WIDTH = 120;

/**
 * Writes a recording and the bodies beside it, as far as they differ from what is there.
 * @param exchanges in the place of the recording's own, one for each.
 * @returns the files that were written, relative to the directory.
 */
export async function writeRecording(
  dir: string,
  { file, source, exchanges: old }: Recording,
  exchanges: readonly Exchange[],
): Promise<readonly string[]> {
  const bodies = exchanges.flatMap(({ response, content }, at) =>
    content === undefined || old[at]?.content?.equals(content)
      ? []
      : [[join(dirname(file), response.file as string), content] as const],
  );
  const isSame = exchanges.every((exchange, at) => isDeepStrictEqual(exchange.response, old[at]?.response));
  const kept = exchanges.map(({ case: name, request, response }) => ({ case: name, request, response }));
  const texts = isSame ? [] : [[file, `${lay({ source, exchanges: kept }, "", 0)}\n`] as const];
  for (const [path, content] of [...texts, ...bodies]) await writeFile(join(dir, path), content);
  return [...texts, ...bodies].map(([path]) => path);
}

/**
 * JSON for people, and the same text for the same data: what fits on a line stands on one.
 * @param taken columns of the first line that a key before and a comma behind take.
 */
function lay(value: unknown, indent: string, taken: number): string {
  const line = toLine(value);
  if (indent.length + taken + line.length <= WIDTH) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const elements = value.map((element) => inner + lay(element, inner, 1));
    return `[\n${elements.join(",\n")}\n${indent}]`;
  }
  if (!isObject(value)) return line;
  const entries = Object.entries(value).map(([name, part]) => {
    const key = `${JSON.stringify(name)}: `;
    return inner + key + lay(part, inner, key.length + 1);
  });
  return `{\n${entries.join(",\n")}\n${indent}}`;
}

function toLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toLine).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}: ${toLine(part)}`);
  return entries.length > 0 ? `{ ${entries.join(", ")} }` : "{}";
}
