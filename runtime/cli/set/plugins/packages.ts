import { existsSync, globSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isObject } from "../../../core/json.ts";
import { filesBelow, isModuleName } from "./files.ts";

/** payphone's own package, which a shop need not depend on to import it. */
const PAYPHONE = "payphone";
const LISTS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/**
 * Whether a shop itself depends on a package: by its package.json, by one in a folder above, or by a workspace of
 * these. npm installs payphone's dependencies beside the shop's, and a package that is there only for payphone may
 * disappear or change. A shop without a package.json may import any package. @param home the shop's folder.
 */
export function asksFor(specifier: string, home: string): boolean {
  if (isBuiltin(specifier)) return true;
  const name = packageOf(specifier);
  const own = join(home, "package.json");
  if (name === PAYPHONE || !existsSync(own)) return true;
  for (const file of filesAbove(home)) if (namesIn(file).has(name)) return true;
  return false;
}

/** `@scope/name/part` → `@scope/name`. */
export const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

/**
 * Notes which version of a package plugins get. Node keeps it for ever, and a package is never loaded again.
 * @param home the shop's folder.
 */
export function notePackage(specifier: string, home: string): void {
  const name = packageOf(specifier);
  if (isBuiltin(specifier) || name === PAYPHONE || used.has(`${home} ${name}`)) return;
  const file = findAbove(home, join("node_modules", name, "package.json"));
  const folder = file && dirname(realpathSync(file));
  if (file === undefined || folder === undefined) return;
  const isInstalled = folder.includes(`${sep}node_modules${sep}`);
  if (!isInstalled && folder.startsWith(realpathSync(home) + sep)) return; // It is loaded again like the shop's plugins.
  const linked = isInstalled ? undefined : { folder, changedAt: lastChangeIn(folder) };
  used.set(`${home} ${name}`, { name, file, version: read(file).version, linked });
}

/** Whether a module is of a package that a shop has from a folder elsewhere (`npm link`, `file:`). @param url of the module. */
export const isLinked = (url: string): boolean =>
  [...used.values()].some(({ linked }) => linked && url.startsWith(pathToFileURL(linked.folder + sep).href));

/** The folder that a package of a shop is linked to; undefined for one that is installed. */
export const linkedFolderOf = (specifier: string, home: string): string | undefined =>
  used.get(`${home} ${packageOf(specifier)}`)?.linked?.folder;

/** A sentence for each package that plugins use otherwise than it is now. */
export const listKeptPackages = (): readonly string[] =>
  [...used.values()].flatMap(({ name, file, version: kept, linked }) => {
    const { version } = existsSync(file) ? read(file) : {};
    if (version !== undefined && version !== kept)
      return [`plugins use ${name} ${kept} until a restart, and ${version} is installed`];
    if (!linked || lastChangeIn(linked.folder) === linked.changedAt) return [];
    return [`plugins use ${name} as it was until a restart, and files in ${linked.folder} have changed`];
  });

interface UsedPackage {
  readonly name: string;
  readonly file: string;
  readonly version: unknown;
  /** Set for a package that is elsewhere, and when its files had changed last. */
  readonly linked: { readonly folder: string; readonly changedAt: number } | undefined;
}

/** By the shop's folder and the package's name. */
const used = new Map<string, UsedPackage>();

/** When the code of a package was changed last, in Unix milliseconds; 0 when that cannot be told. */
function lastChangeIn(folder: string): number {
  try {
    const isTaken = ({ name, isFolder }: { readonly name: string; readonly isFolder: boolean }): boolean =>
      !name.startsWith(".") && (isFolder || isModuleName(name));
    return [...filesBelow(folder, isTaken)].reduce((last, file) => Math.max(last, statSync(file).mtimeMs), 0);
  } catch {
    return 0; // A file is just being replaced.
  }
}

function findAbove(dir: string, path: string): string | undefined {
  const file = join(dir, path);
  if (existsSync(file)) return file;
  return dir === dirname(dir) ? undefined : findAbove(dirname(dir), path);
}

/** An error about an import in a plugin's module. @param parentUrl of the module. */
export function importError(message: string, specifier: string, parentUrl: string): Error {
  const error = new Error(message);
  const { line, column } = findImport(specifier, fileURLToPath(parentUrl));
  error.stack = `${parentUrl}:${line}:${column}\nError: ${message}`;
  return error;
}

function findImport(specifier: string, file: string): { readonly line: number; readonly column: number } {
  const lines = readFileSync(file, "utf8").split("\n");
  const quoted = [`"${specifier}"`, `'${specifier}'`];
  const at = lines.findIndex((line) => quoted.some((text) => line.includes(text)));
  const columns = quoted.map((text) => lines[at]?.indexOf(text) ?? -1).filter((column) => column >= 0);
  return { line: Math.max(at, 0) + 1, column: (columns[0] ?? 0) + 1 };
}

/** The package.json files of a folder and of the folders above it, with those of their workspaces. */
function* filesAbove(home: string): Generator<string> {
  for (let dir = home; ; dir = dirname(dir)) {
    const file = join(dir, "package.json");
    if (existsSync(file)) {
      yield file;
      for (const workspace of workspacesIn(file)) {
        const inside = join(dir, workspace, "package.json");
        // A start need not load Node's code for globs, 15 ms.
        if (existsSync(inside)) yield inside;
        else yield* globSync(inside);
      }
    }
    if (dir === dirname(dir)) return;
  }
}

function workspacesIn(file: string): readonly string[] {
  const { workspaces } = read(file);
  return Array.isArray(workspaces) ? workspaces.filter((entry) => typeof entry === "string") : [];
}

/** The names of the package and of its dependencies. */
function namesIn(file: string): ReadonlySet<string> {
  const found = read(file);
  const lists = LISTS.flatMap((list) => (isObject(found[list]) ? Object.keys(found[list]) : []));
  return new Set([...lists, ...(typeof found.name === "string" ? [found.name] : [])]);
}

/** An empty object when the file is not a JSON object; npm reports such a file. */
function read(file: string): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, ""));
    return isObject(found) ? found : {};
  } catch {
    return {};
  }
}
