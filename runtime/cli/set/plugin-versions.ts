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
  reading?.urls.add(url);
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

/**
 * Reads each file of plugins once while they are loaded, although a file decides the versions of all that import it. What a
 * file changes meanwhile is imported anew next time.
 */
export async function readOnce<T>(load: () => Promise<T>): Promise<T> {
  const own: Reading = { pieces: new Map(), folders: new Map(), urls: new Set() };
  reading = own; // Of two loads at once, the earlier one may use what the later one reads, and never the other way round.
  try {
    return await load();
  } finally {
    if (reading === own) reading = undefined;
    if (hasChanged(own)) for (const url of own.urls) noteFailure(url);
  }
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

/** A file as it was read. */
interface Piece {
  readonly digest: string;
  /** The files that it imports of its own directory. */
  readonly imports: readonly string[];
}

/** What a load of plugins has read, and the modules that it has named after that. */
interface Reading {
  /** By path. */
  readonly pieces: Map<string, Piece>;
  readonly folders: Map<string, readonly string[]>;
  readonly urls: Set<string>;
}
let reading: Reading | undefined;

/** The files that these files of plugins import of their own shop, themselves included. */
export function importedBy(files: readonly string[]): readonly string[] {
  return [...closureOf(files, new Map())];
}

function versionOf(file: string, root: string): string {
  const hash = createHash("sha256");
  const pieces = reading?.pieces ?? new Map<string, Piece>();
  const files = closureOf([file], pieces);
  for (const name of new Set([...files, ...dataBeside(files)].sort()))
    hash.update(JSON.stringify([relative(root, name), remember(pieces, name, readPiece).digest]));
  return hash.digest("hex").slice(0, DIGITS);
}

/** The files and everything that they import of their own directory. */
function closureOf(files: readonly string[], pieces: Map<string, Piece>, known = new Set<string>()): Set<string> {
  for (const file of files)
    if (!known.has(file)) closureOf(remember(pieces, file, readPiece).imports, pieces, known.add(file));
  return known;
}

function readPiece(file: string): Piece {
  const text = read(file);
  const specifiers = CODE.test(file) ? [...text.matchAll(SPECIFIER)].map(([, specifier = ""]) => specifier) : [];
  return {
    digest: createHash("sha256").update(text).digest("base64"),
    imports: specifiers.flatMap((specifier) => locate(file, specifier) ?? []),
  };
}

function remember<Value>(known: Map<string, Value>, path: string, make: (path: string) => Value): Value {
  const value = known.get(path) ?? make(path);
  known.set(path, value);
  return value;
}

const hasChanged = ({ pieces, folders }: Reading): boolean =>
  [...pieces].some(([file, { digest }]) => readPiece(file).digest !== digest) ||
  [...folders].some(([folder, names]) => listData(folder).join() !== names.join());

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
function dataBeside(files: ReadonlySet<string>): readonly string[] {
  const folders = new Set([...files].flatMap((file) => /^.*\/plugins\/[^/]+(?=\/)/.exec(toSlashes(file))?.[0] ?? []));
  return [...folders].flatMap((folder) => remember(reading?.folders ?? new Map(), folder, listData));
}

const listData = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !CODE.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));

const toSlashes = (path: string): string => path.replaceAll(sep, "/");

/** Empty text for what cannot be read: the import says what is wrong. A pipe might never end. */
function read(file: string): string {
  try {
    return statSync(file).isFile() ? readFileSync(file, "latin1") : "";
  } catch {
    return "";
  }
}
