import type { DatabaseSync } from "node:sqlite";

/** Returns free pages to the disk and truncates the write-ahead log, in small steps after writes. */
export interface Upkeep {
  /** Notes a committed transaction. @param hasMore whether expired entries are left to sweep */
  note(hasMore: boolean): void;
  close(): void;
}

export interface UpkeepOptions {
  readonly db: DatabaseSync;
  /** Runs `work` in a transaction, which is reported to `note` like any other. */
  readonly run: (work: () => void) => Promise<unknown>;
  /** Begins the log anew. @throws when that is not possible now. */
  readonly cut: () => void;
  /** The time between two steps. */
  readonly everyMs: number;
}

/** Free pages that are kept for the next writes: 1 MB. */
const SPARE_PAGES = 256;
/** The time for which one step may block the event loop, approximately. */
const STEP_MS = 4;
const STEP_PAGES = 64;

/** Steps begin after a write, and end when nothing is left to do and no write came for `everyMs`. */
export function createUpkeep({ db, run, cut, everyMs }: UpkeepOptions): Upkeep {
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
    let left = Number.POSITIVE_INFINITY; // When the lock or the disk refuses, the next step tries again.
    await run(() => {
      giveBack();
      left = countFree();
    }).catch(() => {});
    const isAlone = commits <= before + 1; // This step's own transaction counts as one.
    seen = commits;
    timer = undefined;
    if (isClosed) return;
    if (isIdle && isAlone && isSwept && left <= SPARE_PAGES) tryToCut();
    else schedule();
  }

  function schedule(): void {
    timer = setTimeout(() => void tick(), everyMs).unref();
  }

  function giveBack(): void {
    const until = performance.now() + STEP_MS;
    while (countFree() > SPARE_PAGES && performance.now() < until) db.exec(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
  }

  /** The log stays as it is while another process reads; the next writes trigger another try. */
  function tryToCut(): void {
    try {
      cut();
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
