import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Node keeps a module for ever under its URL. A plugin's file is therefore imported under a digest of everything that
 * decides what it is: itself, what it imports relatively, and the data beside it. A change makes a new module of the file
 * and of those that import it; every other module stays the one that it was, also when the file is read from a copy of
 * its shop.
 */
export function versionedUrl(file: string, { root, home }: PluginPlace): string {
  const version = versionOf(file, root);
  const key = `${home} ${relative(root, file)}?v=${version}`;
  const url = imported.get(key) ?? `${pathToFileURL(file).href}?v=${version}`;
  imported.set(key, url);
  const failures = failed.get(url);
  return failures === undefined ? url : `${url}.${failures}`;
}

/** Where a file of plugins stands. */
export interface PluginPlace {
  /** The shop's folder, or that of its copy. */
  readonly root: string;
  /** The shop's folder. */
  readonly home: string;
}

/** An import that failed is tried anew next time, although no file has changed: a package may be there by then. */
export function noteFailure(url: string): void {
  const plain = url.replace(/(\?v=[0-9a-f]+)\.\d+$/, "$1");
  failed.set(plain, (failed.get(plain) ?? 0) + 1);
}

/** How many modules of plugins this process has imported. None can be unloaded. */
export const countModules = (): number => imported.size;

/** URLs by path and version. */
const imported = new Map<string, string>();
const failed = new Map<string, number>();

/** What a text imports, relatively or by the names in its package's `imports`. Too much does no harm. */
const SPECIFIER = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["']((?:\.{1,2}\/|#)[^"'\n]+)["']/g;
const CODE = /\.[cm]?[jt]s$/;
const DIGITS = 16;

/** The files that these files of plugins import of their own shop, themselves included. */
export function importedBy(files: readonly string[]): readonly string[] {
  const known = new Map<string, string>();
  for (const file of files) closureOf(file, known);
  return [...known.keys()];
}

function versionOf(file: string, root: string): string {
  const hash = createHash("sha256");
  const files = closureOf(file);
  for (const name of new Set([...files.keys(), ...dataBeside(files.keys())].sort()))
    hash.update(JSON.stringify(relative(root, name))).update(files.get(name) ?? read(name));
  return hash.digest("hex").slice(0, DIGITS);
}

/** The texts of a file and of everything that it imports of its own directory, by path. */
function closureOf(file: string, known: Map<string, string> = new Map()): ReadonlyMap<string, string> {
  if (known.has(file)) return known;
  const text = read(file);
  known.set(file, text);
  if (!CODE.test(file)) return known;
  for (const [, specifier = ""] of text.matchAll(SPECIFIER)) {
    const target = locate(file, specifier);
    if (target !== undefined) closureOf(target, known);
  }
  return known;
}

function locate(file: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return join(dirname(file), specifier);
  if (specifier === "#plugin") return undefined;
  try {
    const target = createRequire(file).resolve(specifier);
    return target.includes(`${sep}node_modules${sep}`) ? undefined : target;
  } catch {
    return undefined;
  }
}

/** What is no code in the folders of plugins that the files belong to: tables and texts that they may read. */
function dataBeside(files: Iterable<string>): readonly string[] {
  const folders = new Set([...files].flatMap((file) => /^.*\/plugins\/[^/]+(?=\/)/.exec(toSlashes(file))?.[0] ?? []));
  return [...folders].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !CODE.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
}

const toSlashes = (path: string): string => path.replaceAll(sep, "/");

/** Empty text for what cannot be read: the import says what is wrong. A pipe might never end. */
function read(file: string): string {
  try {
    return statSync(file).isFile() ? readFileSync(file, "latin1") : "";
  } catch {
    return "";
  }
}
