import { readdirSync, realpathSync, statSync } from "node:fs";
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

export const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** Larger folders behind links are data that no copy of a set should hold, such as models. */
const MOST_LINKED_BYTES = 16_000_000;

/**
 * The files below a folder, but no packages. Links to folders are followed, unless they lead to a folder that they stand in
 * or to too much.
 * @param isTaken whether a folder or a file is listed
 */
export function filesBelow(
  folder: string,
  isTaken: (entry: { readonly name: string; readonly isFolder: boolean }) => boolean,
  above: readonly string[] = [realpathSync(folder)],
): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const { name } = entry;
    const path = join(folder, name);
    const found = entry.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : entry;
    const isFolder = found?.isDirectory() ?? false;
    if (name === "node_modules" || !isTaken({ name, isFolder })) return [];
    if (!isFolder) return found?.isFile() ? [path] : [];
    if (!entry.isSymbolicLink()) return filesBelow(path, isTaken, above);
    const real = realpathSync(path);
    if (above.some((one) => isWithin(one, real))) return [];
    const linked = filesBelow(path, isTaken, [...above, real]);
    return bytesOf(linked) > MOST_LINKED_BYTES ? [] : linked;
  });
}

const isWithin = (path: string, folder: string): boolean => !relative(folder, path).startsWith("..");

const bytesOf = (files: readonly string[]): number => files.reduce((sum, file) => sum + statSync(file).size, 0);
