import { SHOW_STEP } from "../books/showing.ts";

/** Shows what was entered in a book, some time after it was entered. */
export interface BookSweep {
  /** Something is entered. */
  note(): void;
  close(): void;
}

export interface BookSweepDeps {
  /** Does one step in a transaction. @returns whether there may be more */
  readonly step: () => Promise<boolean>;
  /** How long something waits at most, while nobody asks for it. */
  readonly everyMs?: number;
}

const EVERY_MS = 5000;

/** A step follows when enough was entered, or time has passed: the more in one step, the less each line costs. */
export function createBookSweep({ step, everyMs = EVERY_MS }: BookSweepDeps): BookSweep {
  let timer: NodeJS.Timeout | undefined;
  let entered = 0;
  let isBusy = false;
  let isClosed = false;

  async function sweep(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    isBusy = true;
    entered = 0;
    // The lock or the disk refuses: the next one tries again.
    const hasMore = await step().catch(() => true);
    isBusy = false;
    if (hasMore || entered > 0) schedule();
  }

  function schedule(): void {
    if (isClosed || isBusy) return;
    if (entered >= SHOW_STEP) void sweep();
    else timer ??= setTimeout(() => void sweep(), everyMs).unref();
  }

  return {
    note() {
      entered += 1;
      schedule();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
