/**
 * `node test/cli/import/public-documents.ts <folder> [part of a path]`: imports the public OpenAPI documents that
 * public-documents.json lists, whole, and writes the outcomes into it. The documents are no part of this repository: the
 * folder has each at `<repository>/<path>`, as the repository's listed commit has it. A document counts as whole when
 * nothing of it was left out.
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { faultsOf, importAll, openShop } from "./shop.ts";

interface Outcome {
  readonly services?: number;
  /** None: the document is whole. */
  readonly left_out?: number;
  /** What was left out, and why. */
  readonly reasons?: readonly string[];
  /** None: the shop passes the check. */
  readonly faults?: number;
  readonly error?: string;
}

interface Repository {
  readonly repository: string;
  readonly commit: string;
  /** By path. */
  readonly documents: Record<string, Outcome & { readonly sha256: string }>;
}

const LIST = join(import.meta.dirname, "public-documents.json");
const [folder = "", part = ""] = process.argv.slice(2);
const listed: readonly Repository[] = JSON.parse(await readFile(LIST, "utf8"));
for (const { repository, documents } of listed)
  for (const [path, { sha256 }] of Object.entries(documents)) {
    if (!path.includes(part)) continue;
    const outcome = await tryOne(join(folder, repository, path), sha256).catch(({ message }: Error) => ({
      error: message,
    }));
    documents[path] = { sha256, ...outcome };
    console.log(JSON.stringify(outcome), path);
  }
await writeFile(LIST, `${JSON.stringify(listed, null, 2)}\n`);
const outcomes = listed.flatMap(({ documents }) => Object.values(documents));
const imported = outcomes.filter(({ error }) => error === undefined);
const whole = imported.filter(({ left_out }) => left_out === undefined);
const clean = imported.filter(({ faults }) => faults === undefined);
console.log(`${whole.length} of ${outcomes.length} whole; ${clean.length} pass the check`);

async function tryOne(file: string, sha256: string): Promise<Outcome> {
  const found = createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
  if (found !== sha256) throw new Error(`another version: sha256 ${found}`);
  const dir = await openShop();
  const { report } = await importAll(dir, file);
  const count = (pattern: RegExp): number => Number(pattern.exec(report)?.[1] ?? 0);
  const reasons = [...report.matchAll(/^ {2}- (.*)$/gm)].map(([, line = ""]) => line);
  const leftOut = count(/^(\d+) left out/m);
  const { length: faults } = await faultsOf(dir);
  return {
    services: count(/^(\d+) services?/),
    ...(leftOut > 0 && { left_out: leftOut }),
    ...(reasons.length > 0 && { reasons }),
    ...(faults > 0 && { faults }),
  };
}
