/**
 * `node test/cli/import/public-documents.ts <folder> [part of a path]`: imports the public OpenAPI documents that
 * public-documents.json lists, whole, and writes the outcomes into it. The documents are no part of this repository: the folder has each at
 * `<repository>/<path>`, as the listed commit has it. A document counts as whole when nothing of it was left out.
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { faultsOf, importAll, openShop } from "./shop.ts";

interface Row {
  readonly repository: string;
  readonly commit: string;
  readonly path: string;
  readonly sha256: string;
  readonly services?: number;
  readonly left_out?: number;
  /** What was left out, and why. */
  readonly reasons?: readonly string[];
  readonly faults?: number;
  readonly error?: string;
}

const LIST = join(import.meta.dirname, "public-documents.json");
const [folder = "", part = ""] = process.argv.slice(2);
const listed: readonly Row[] = JSON.parse(await readFile(LIST, "utf8"));
const outcomes: Row[] = [];
for (const row of listed) {
  const { repository, commit, path, sha256 } = row;
  if (!path.includes(part)) {
    outcomes.push(row);
    continue;
  }
  const known = { repository, commit, path, sha256 };
  const outcome = await tryOne(join(folder, repository, path), sha256).catch((error: Error) => ({
    error: error.message,
  }));
  outcomes.push({ ...known, ...outcome });
  console.log(JSON.stringify(outcome), path);
}
await writeFile(LIST, `[\n${outcomes.map((row) => `  ${JSON.stringify(row)}`).join(",\n")}\n]\n`);
const whole = outcomes.filter(({ left_out, error }) => left_out === 0 && error === undefined);
const clean = outcomes.filter(({ faults }) => faults === 0);
console.log(`${whole.length} of ${outcomes.length} whole; ${clean.length} pass the check`);

async function tryOne(file: string, sha256: string): Promise<Omit<Row, "repository" | "commit" | "path" | "sha256">> {
  const found = createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
  if (found !== sha256) throw new Error(`another version: sha256 ${found}`);
  const dir = await openShop();
  const { report } = await importAll(dir, file);
  const count = (pattern: RegExp): number => Number(pattern.exec(report)?.[1] ?? 0);
  const faults = await faultsOf(dir);
  const reasons = [...report.matchAll(/^ {2}- (.*)$/gm)].map(([, line = ""]) => line);
  return {
    services: count(/^(\d+) services?/),
    left_out: count(/^(\d+) left out/m),
    ...(reasons.length > 0 && { reasons }),
    faults: faults.length,
  };
}
