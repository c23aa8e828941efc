import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder, and those above it, unless they exist. Node's recursive `mkdir` never ends where the system refuses
 * a new folder with ENOENT, as it does in /proc. @throws as `mkdirSync` does.
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || existsSync(above)) throw error;
    makeFolder(above, mode);
    makeFolder(path, mode);
  }
}
