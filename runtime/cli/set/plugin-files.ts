import { realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";

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
