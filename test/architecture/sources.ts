import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FLOORS } from "./plan.ts";

/** The repository. */
export const ROOT = join(import.meta.dirname, "../..");

/** The text of every source file, by its path from the root, in the order of the paths. */
export const SOURCES: ReadonlyMap<string, string> = new Map(
  ["plugins", "runtime", "schemas"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .sort()
      .map((name) => [join(folder, name), readFileSync(join(ROOT, folder, name), "utf8")] as const),
  ),
);

/** The names that a file declares and exports; re-exports are left out. */
export function exportsOf(file: string): string[] {
  const declared = /^export (?:async )?(?:function\*?|const|let|class|type|interface) (\w+)/gm;
  return [...(SOURCES.get(file) ?? "").matchAll(declared)].map(([, name = ""]) => name);
}

/** The floor of a file; undefined for a file on no floor. */
export const floorOf = (file: string): string | undefined =>
  Object.keys(FLOORS).find((floor) => file.startsWith(`${floor}/`));

/** Static imports, re-exports and `import("literal")`: paths from the root, `#plugin`, or packages. */
export function importsOf(file: string): string[] {
  const source = SOURCES.get(file) ?? "";
  const found = [
    ...source.matchAll(/^(?:import|export)\s(?:[^"';]*from\s)?"([^"]+)"/gm),
    ...source.matchAll(/\bimport\("([^"]+)"\)/g),
  ];
  return found.map(([, specifier = ""]) => (specifier.startsWith(".") ? join(dirname(file), specifier) : specifier));
}

/** The source files that a file imports, each once. */
export function sourcesOf(file: string): string[] {
  const paths = importsOf(file).map((path) => (path === "#plugin" ? "runtime/api/plugin.ts" : path));
  return [...new Set(paths)].filter((path) => SOURCES.has(path));
}
