import { close, closeSync, fdatasync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";

/** Brings what is committed to the disk, beside the event loop and outside of every lock. */
export interface Syncs {
  /** Fulfils when all that was committed before is on the disk. Calls that come while one is under way share the next. */
  sync(): Promise<void>;
  /** After the last sync. */
  close(): void;
}

/** The write-ahead log on the disk. */
export interface LogFile {
  sync(): Promise<void>;
  /** Copies the whole log into the database, synced, and begins it anew. @throws while that cannot be done. */
  renew(): void;
  close(): void;
}

/** @param log an open one. */
export function createSyncs(log: LogFile): Syncs {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let isDoubtful = false;

  /** What the disk has failed to sync may be lost to it, though the kernel still shows it: that log is not built upon. */
  async function bring(): Promise<void> {
    if (isDoubtful) log.renew();
    isDoubtful = false;
    await log.sync().catch((error: unknown) => {
      isDoubtful = true;
      throw error;
    });
  }

  function begin(): Promise<void> {
    next = undefined;
    const one = bring().finally(() => {
      if (running === one) running = undefined;
    });
    running = one;
    return one;
  }

  return {
    sync() {
      if (!running) return begin();
      next ??= running.then(begin, begin);
      return next;
    },
    close: log.close,
  };
}

/** @param file the database, which is open: as long as it is, its log is one and the same file. */
export function openLogFile(file: string, db: DatabaseSync): LogFile {
  const descriptor = openSync(`${file}-wal`, "r+");
  syncFolder(dirname(file));
  return {
    sync: () =>
      new Promise((done, fail) => {
        fdatasync(descriptor, (error) => (error ? fail(error) : done()));
      }),
    renew() {
      const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { readonly busy: number };
      if (busy) throw new Error("The disk has failed, and another process still reads what it may have lost");
    },
    close: () => close(descriptor),
  };
}

/** A new file is found again after a power cut once its folder is on the disk. Windows has no such call. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  fsyncSync(folder);
  closeSync(folder);
}
