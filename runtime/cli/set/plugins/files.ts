import { readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";

/** The file of the shop that a plugin's file names by a relative path or by a name of the package's `imports`. */
export function locateImport(file: string, specifier: string): string | undefined {
  if (specifier === "#plugin") return undefined;
  const found = specifier.startsWith(".") ? fileBeside(file, specifier) : undefined;
  if (found !== undefined) return found;
  try {
    const target = createRequire(file).resolve(specifier);
    return target.includes(`${sep}node_modules${sep}`) ? undefined : target;
  } catch {
    return specifier.startsWith(".") ? join(dirname(file), specifier) : undefined;
  }
}

/**
 * The file at a path relative to another file, or else relative to where a link leads to that one. Links stay links:
 * Node would follow them, and remember for ever where they have led.
 */
export function fileBeside(file: string, path: string): string | undefined {
  const found = join(dirname(file), path);
  if (isFile(found)) return found;
  try {
    const real = join(dirname(realpathSync(file)), path);
    return real !== found && isFile(real) ? real : undefined;
  } catch {
    return undefined; // The file itself is gone.
  }
}

/** Whether a file is a module, by the end of its name. */
export const isModuleName = (name: string): boolean => /\.(?:[cm]?[jt]s|json)$/.test(name);

export const isFile = (path: string): boolean => lookAt(path)?.isFile() ?? false;

/** What stands there; undefined for nothing, and for a link that leads nowhere or to itself. */
function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Larger folders behind links are data that no copy of a set should hold, such as models. */
const MOST_LINKED_BYTES = 16_000_000;
/** What a file counts besides its content, so that very many small ones are too much, too. */
const BYTES_OF_FILE = 4000;

/**
 * The files below a folder, but no packages. Links to folders are followed, unless they lead to a folder that they stand in
 * or to too much.
 * @param isTaken whether a folder or a file is listed
 */
export function* filesBelow(
  folder: string,
  isTaken: (entry: { readonly name: string; readonly isFolder: boolean }) => boolean,
  above: readonly string[] = [realpathSync(folder)],
): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const { name } = entry;
    const path = join(folder, name);
    const found = entry.isSymbolicLink() ? lookAt(path) : entry;
    const isFolder = found?.isDirectory() ?? false;
    if (name === "node_modules" || !isTaken({ name, isFolder })) continue;
    if (found?.isFile()) yield path;
    if (!isFolder) continue;
    const real = entry.isSymbolicLink() ? realpathSync(path) : undefined;
    if (real === undefined) yield* filesBelow(path, isTaken, above);
    else if (!above.some((one) => isWithin(one, real))) yield* unlessMany(filesBelow(path, isTaken, [...above, real]));
  }
}

const isWithin = (path: string, folder: string): boolean => !relative(folder, path).startsWith("..");

/** All of the files; none when they are too much, which ends the search. */
function unlessMany(files: Iterable<string>): readonly string[] {
  const all: string[] = [];
  let bytes = 0;
  for (const file of files) {
    bytes += statSync(file).size + BYTES_OF_FILE;
    if (bytes > MOST_LINKED_BYTES) return [];
    all.push(file);
  }
  return all;
}
