import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchownSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname } from "node:path";

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

/**
 * Makes a file for this user alone, unless it exists. What root makes is given to the user of the folder: the server may
 * run as that user. @returns whether it was made @throws as `openSync` does; a file that cannot be written whole is removed.
 */
export function makeFile(path: string, text = ""): boolean {
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    const { uid, gid } = statSync(dirname(path));
    if (process.getuid?.() === 0) fchownSync(file, uid, gid);
    writeFileSync(file, text); // writeSync may write less.
    return true;
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Gives a file that root has written to the user of its folder, as `makeFile` does. @throws as `chownSync` does. */
export function keepOwner(path: string): void {
  const { uid, gid } = statSync(dirname(path));
  if (process.getuid?.() === 0) chownSync(path, uid, gid);
}

/**
 * Checks that a database can be written. It is not opened for that: when a process closes a file, the system drops all locks that
 * the process has on it, and without a store's locks another program may remove its log. @throws as `accessSync` does.
 */
export const checkWritable = (file: string): void => accessSync(file, constants.R_OK | constants.W_OK);

/**
 * Whether a database is missing or empty while its log is there: SQLite would delete the log, and with it what was written
 * last. The log is looked at first, since another process may be making both.
 */
export function hasLoneLog(file: string): boolean {
  const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return sizeOf(`${file}-wal`) > 0 && sizeOf(file) === 0;
}

/** @throws Error where a database has lost all but its log. */
export function refuseLoneLog(file: string): void {
  if (!hasLoneLog(file)) return;
  const name = basename(file);
  throw new Error(
    `${name} is missing or empty, but its log ${name}-wal is there, with what was written last: put ${name} back beside it. To begin anew, or to restore a backup, move both away first`,
  );
}
