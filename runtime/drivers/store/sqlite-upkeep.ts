import type { DatabaseSync } from "node:sqlite";

/** Gives freed pages of the file back to the disk and cuts the write-ahead log, in small steps after writes. */
export interface Upkeep {
  /** A transaction was committed. @param hasMore whether more of what has expired is left to be swept. */
  note(hasMore: boolean): void;
  close(): void;
}

export interface UpkeepOptions {
  readonly db: DatabaseSync;
  /** Runs `work` in a transaction, which `note` is told of like any other. */
  readonly run: (work: () => void) => Promise<unknown>;
  /** The time between two steps. */
  readonly everyMs: number;
}

/** Pages that stay free for the next writes: 1 MB. */
const SPARE_PAGES = 256;
/** One step blocks the event loop for about so long. */
const STEP_MS = 4;
const STEP_PAGES = 64;

/** The steps begin after a write, and end when nothing is left to do and `everyMs` has passed without another write. */
export function createUpkeep({ db, run, everyMs }: UpkeepOptions): Upkeep {
  const freePages = db.prepare("PRAGMA freelist_count");
  const countFree = (): number => Number(freePages.get()?.freelist_count);
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let commits = 0;
  let seen = 0;
  let isSwept = true;

  async function tick(): Promise<void> {
    const isIdle = commits === seen;
    const before = commits;
    await run(giveBack).catch(() => {}); // The lock or the disk refuses: the next step tries again.
    const isAlone = commits <= before + 1; // Its own transaction is one of them.
    seen = commits;
    timer = undefined;
    if (isClosed) return;
    if (isIdle && isAlone && isSwept && countFree() <= SPARE_PAGES) cut();
    else schedule();
  }

  function schedule(): void {
    timer = setTimeout(() => void tick(), everyMs).unref();
  }

  function giveBack(): void {
    const until = performance.now() + STEP_MS;
    while (countFree() > SPARE_PAGES && performance.now() < until) db.exec(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
  }

  /** While another process reads, the log stays as it is until the next writes are over. */
  function cut(): void {
    try {
      db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Another process holds the lock.
    }
  }

  return {
    note(hasMore) {
      commits += 1;
      isSwept = !hasMore;
      if (!timer && !isClosed) schedule();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
