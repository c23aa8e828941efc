import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** The files of the repository that import a package, by the package's name. */
export function importers(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of globSync("{runtime,plugins,schemas,test}/**/*.{ts,js,cjs}", { cwd: ROOT }).sort()) {
    for (const name of new Set(packagesOf(readFileSync(join(ROOT, file), "utf8"))))
      found.set(name, [...(found.get(name) ?? []), file]);
  }
  return found;
}

function packagesOf(source: string): string[] {
  const specifiers = [
    ...source.matchAll(/^(?:import|export)\s(?:[^"';]*from\s)?"([^".#][^"]*)"/gm),
    ...source.matchAll(/\b(?:import|require|resolve)\(["'`]([^"'`.#][^"'`]*)["'`]\)/g),
  ];
  return specifiers.map(([, specifier = ""]) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
}
