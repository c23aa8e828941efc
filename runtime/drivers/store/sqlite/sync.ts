import { close, closeSync, fdatasync, fsyncSync, openSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { shareRuns } from "../../../core/time/share-runs.ts";

/** The write-ahead log on the disk. */
export interface LogFile {
  /** Resolves when everything committed before is on disk; works off the event loop. @throws also as `check`. */
  sync(): Promise<void>;
  /** Copies the whole log into the database, synced, and starts a new log. @throws when that is not possible yet. */
  renew(): void;
  /**
   * @throws when the database, its log or the log's index was removed or replaced: what is written from then on would be
   * lost, and would destroy what another process writes into the files that are there now.
   */
  check(): void;
  /** Call it after the last sync. */
  close(): void;
}

/** A log whose calls of `sync` during a running one share the next one, and which is mended after a failed one. */
export function shareSyncs(log: LogFile): LogFile {
  let isDoubtful = false;

  /**
   * After a failed sync the disk may lack what the kernel still shows, so that the log must be renewed before it is
   * used.
   */
  async function bring(): Promise<void> {
    if (isDoubtful) log.renew();
    isDoubtful = false;
    await log.sync().catch((error: unknown) => {
      isDoubtful = true;
      throw error;
    });
  }

  return { ...log, sync: shareRuns(bring) };
}

/** @param file the open database: its log stays the same file while it is open */
export function openLogFile(file: string, db: DatabaseSync): LogFile {
  const descriptor = openSync(`${file}-wal`, "r+");
  syncFolder(dirname(file));
  const opened = ["", "-wal", "-shm"].map((end) => ({ path: file + end, inode: inodeOf(file + end) }));
  const check = (): void => {
    const lost = opened.find(({ path, inode }) => inodeOf(path) !== inode);
    if (lost) throw new Error(`${basename(lost.path)} was removed or replaced while it was open`);
  };
  return {
    sync: () =>
      new Promise<void>((done, fail) => {
        fdatasync(descriptor, (error) => (error ? fail(error) : done()));
      }).then(check),
    renew() {
      check();
      const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { readonly busy: number };
      if (busy) throw new Error("After a disk error the log cannot be renewed while another process reads it");
    },
    check,
    close: () => close(descriptor),
  };
}

/** Undefined when there is no such file. */
const inodeOf = (path: string): bigint | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;

/** Syncs the folder: otherwise a new file may be missing after a power failure. Windows has no such call. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  fsyncSync(folder);
  closeSync(folder);
}
