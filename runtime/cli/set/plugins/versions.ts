import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { filesBelow, isFile, locateImport } from "./files.ts";
import { type ChangedFile, forgetModules } from "./requires.ts";

/**
 * The URL under which a plugin's file is imported. Node keeps a module for ever under its URL, so the URL contains a
 * digest of everything that determines the module: the file, its relative imports, and the data files beside it. After
 * a change, only the changed file and the files that import it become new modules. A copy of the shop shares the modules
 * of the folder, and the other way round, while the files there are the same: a plugin may read them by its own URL.
 * @param importer the URL of the module that imports the file
 */
export function versionedUrl(file: string, { root, home }: PluginPlace, importer = ""): string {
  const read = late.get(importer) ?? reading ?? createReading();
  const version = versionOf(file, root, read);
  forgetChanged(file, root, read);
  const key = `${home} ${relative(root, file)}?v=${version}`;
  const own = `${pathToFileURL(file).href}?v=${version}`;
  const known = imported.get(key);
  const isShared = known && known.url !== own && versionOf(known.file, known.root, read) === version;
  const plain = isShared ? known.url : own;
  if (known?.url !== plain) {
    imported.set(key, { url: plain, file, root });
    modules.add(plain);
  }
  reading?.urls.add(plain);
  const failures = failed.get(plain);
  const url = failures === undefined ? plain : `${plain}.${failures}`;
  const piece = read.pieces.get(file);
  if (piece?.importsLate || late.has(importer)) late.set(url, read);
  if (read !== reading && piece?.text !== undefined && readPiece(file).digest !== piece.digest)
    former.set(url, piece.text);
  return url;
}

/** The text of a module whose file has changed since its plugin was loaded. */
export const formerText = (url: string): string | undefined => former.get(url);

/** Whether a module imports others while it runs, as they were when it was loaded. */
export const importsLate = (url: string): boolean => late.has(url);

/** Whether a file that is gone by now had a text when the module that imports it was loaded. */
export const wasRead = (file: string, importer: string): boolean => Boolean(late.get(importer)?.pieces.get(file)?.text);

/** The place of a plugin's file. */
export interface PluginPlace {
  /** The shop's folder, or the folder of its copy. */
  readonly root: string;
  /** The shop's folder. */
  readonly home: string;
}

/**
 * Makes a failed import be tried again the next time, although no file has changed: a package may have been installed
 * by then.
 */
export function noteFailure(url: string): void {
  const plain = url.replace(/(\?v=[0-9a-f]+)\.\d+$/, "$1");
  failed.set(plain, (failed.get(plain) ?? 0) + 1);
}

/**
 * While plugins are loaded, reads each of their files once, although several versions depend on it. Changes of files in
 * the meantime are noticed by the next load.
 */
export async function readOnce<T>(load: () => Promise<T>): Promise<T> {
  const own = createReading();
  // When two loads overlap, the earlier one may use files that the later one has read, never the reverse.
  reading = own;
  try {
    return await load();
  } finally {
    if (reading === own) reading = undefined;
    if (hasChanged(own)) for (const url of own.urls) noteFailure(url);
  }
}

/** The number of plugin modules that this process has imported. Node cannot unload modules. */
export const countModules = (): number => modules.size;

/** URLs. */
const modules = new Set<string>();
/** By path and version. */
const imported = new Map<string, { readonly url: string; readonly file: string; readonly root: string }>();
const failed = new Map<string, number>();
/** By URL: for modules that import others while they run, the files as they were read then. Saved edits must not reach them. */
const late = new Map<string, Reading>();
const former = new Map<string, string>();

/** By path, the last known version of each file. */
const versions = new Map<string, string>();

/**
 * Matches relative imports, imports by the names in the package's `imports`, and calls with the relative path of code or
 * JSON: functions that createRequire has made can have any name. A false match does no harm.
 */
const SPECIFIER =
  /(?:\bfrom|\bimport|\brequire|\bcreateRequire\([^)]*\))\s*\(?\s*["']((?:\.{1,2}\/|#)[^"'\n]+)["']|\(\s*["'`](\.{1,2}\/[^"'`\n$]+\.(?:[cm]?[jt]s|json))["'`]/g;
const LATE = /\bimport\s*\(\s*["'](?:\.{1,2}\/|#)/;
/** A plugin's own folder, or that of plugins of one file each. */
const PLACE = /^plugins(?:\/[^/]+)?(?=\/)/;
const CODE = /\.[cm]?[jt]s$/;
const DIGITS = 16;

/** A file as it was read. */
interface Piece {
  readonly digest: string;
  /** The relative imports and requires in its code. */
  readonly specifiers: readonly string[];
  /** The files of its own directory that it imports. */
  readonly imports: readonly string[];
  /** Those that it gets otherwise than by an import. */
  readonly requires: readonly string[];
  readonly importsLate: boolean;
  /** Of code, each byte as one character. */
  readonly text?: string;
}

/** What one load of plugins has read, and the modules whose URLs depend on that. */
interface Reading {
  /** By path. */
  readonly pieces: Map<string, Piece>;
  readonly folders: Map<string, readonly string[]>;
  /** By path. */
  readonly versions: Map<string, string>;
  readonly urls: Set<string>;
}
let reading: Reading | undefined;

const createReading = (): Reading => ({ pieces: new Map(), folders: new Map(), versions: new Map(), urls: new Set() });

/** These plugin files and all files of their own shop that they import. */
export const importedBy = (files: readonly string[]): readonly string[] => [...closureOf(files, new Map())];

function versionOf(file: string, root: string, read: Reading): string {
  const known = read.versions.get(file);
  if (known !== undefined) return known;
  const files = closureOf([file], read.pieces);
  const names = [...new Set([...files, ...dataBeside(files, root, read.folders)])].sort();
  const texts = names.map((name) => [within(root, name), remember(read.pieces, name, readPiece).digest]);
  const version = hash("sha256", JSON.stringify(texts), "hex").slice(0, DIGITS);
  read.versions.set(file, version);
  return version;
}

/** Makes CommonJS modules that have changed, or that use what has changed, be loaded anew. */
function forgetChanged(file: string, root: string, read: Reading): void {
  const files = new Set([...closureOf([file], read.pieces), ...dataBeside([file], root, read.folders)]);
  const changed = [...files].filter((name) => versions.get(name) !== versionOf(name, root, read));
  const toChanged = (name: string): ChangedFile => {
    const { specifiers = [], requires = [] } = read.pieces.get(name) ?? {};
    return { file: name, specifiers, requires, isNew: !versions.has(name) };
  };
  forgetModules(changed.map(toChanged));
  for (const name of changed) versions.set(name, versionOf(name, root, read));
}

/** The files and everything that they import from their own directory. */
function closureOf(files: readonly string[], pieces: Map<string, Piece>, known = new Set<string>()): Set<string> {
  for (const file of files)
    if (!known.has(file)) closureOf(remember(pieces, file, readPiece).imports, pieces, known.add(file));
  return known;
}

function readPiece(file: string): Piece {
  const text = read(file);
  const isCode = CODE.test(file);
  const found = (isCode ? [...text.matchAll(SPECIFIER)] : []).map(([match, named, called = ""]) => {
    const specifier = named ?? called;
    return { specifier, isImport: /^(?:from|import)/.test(match), files: locateImport(file, specifier) ?? [] };
  });
  return {
    digest: digestOf(text),
    specifiers: found.map(({ specifier }) => specifier),
    imports: found.flatMap(({ files }) => files),
    requires: found.flatMap(({ isImport, files }) => (isImport ? [] : files)),
    importsLate: isCode && LATE.test(text),
    ...(isCode && { text }),
  };
}

const digestOf = (text: string): string => hash("sha256", text, "base64");

function remember<Value>(known: Map<string, Value>, path: string, make: (path: string) => Value): Value {
  const value = known.get(path) ?? make(path);
  known.set(path, value);
  return value;
}

const hasChanged = ({ pieces, folders }: Reading): boolean =>
  [...pieces].some(([file, { digest }]) => digestOf(read(file)) !== digest) ||
  [...folders].some(([folder, names]) => listData(folder).join() !== names.join());

/**
 * The data files that plugins may read, such as tables and texts: in the folder of a plugin, or beside a plugin that is
 * one file.
 */
function dataBeside(files: Iterable<string>, root: string, known: Reading["folders"]): readonly string[] {
  const places = [...files].flatMap((file) => PLACE.exec(toSlashes(within(root, file)))?.[0] ?? []);
  const folders = new Set(places.map((place) => join(root, place)));
  return [...folders].flatMap((folder) => remember(known, folder, listData));
}

/** Beside plugins of one file each, the folders of other plugins are left out. */
const listData = (folder: string): readonly string[] =>
  existsSync(folder)
    ? [...filesBelow(folder, (entry) => (entry.isFolder ? isPart(folder, entry.name) : !CODE.test(entry.name)))]
    : [];

const isPart = (folder: string, name: string): boolean =>
  basename(folder) !== "plugins" || !existsSync(join(folder, name, "index.ts"));

/** A path as seen from the root. Most are below it, and `relative` would be a tenth of the work of all this. */
const within = (root: string, path: string): string =>
  path.startsWith(`${root}${sep}`) ? path.slice(root.length + 1) : relative(root, path);

const toSlashes = (path: string): string => path.replaceAll(sep, "/");

/**
 * The text of a file; empty when it cannot be read, because the import reports that. Only files are read, since reading
 * a pipe might never end.
 */
function read(file: string): string {
  try {
    return isFile(file) ? readFileSync(file, "latin1") : "";
  } catch {
    return "";
  }
}
