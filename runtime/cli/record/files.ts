import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../core/json.ts";
import type { RecordedExchange, Recording } from "../../sandbox/recordings/recordings.ts";

/** The line width of this repository's formatter. */
const WIDTH = 120;

/**
 * Writes a recording and its body files, as far as they changed.
 * @param exchanges replace the recording's own, one by one.
 * @returns the written files, relative to the directory.
 */
export async function writeRecording(
  dir: string,
  { file, source, exchanges: old }: Recording,
  exchanges: readonly RecordedExchange[],
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
 * Formats JSON. A value that fits on one line is written on one line.
 * @param taken the columns of the first line that the key before it and the comma after it use.
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
