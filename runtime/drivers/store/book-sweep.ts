import { SHOW_STEP } from "../books/showing.ts";

/** Moves entered events into the readable tables of the book, some time after they were entered. */
export interface BookSweep {
  /** Notes that an event was entered. */
  note(): void;
  close(): void;
}

export interface BookSweepDeps {
  /** Does one step in a transaction. @returns whether more may be left */
  readonly step: () => Promise<boolean>;
}

/** The longest delay while nobody reads the book. */
const EVERY_MS = 5000;

/** A step runs after enough events or enough time: the larger the step, the cheaper each line. */
export function createBookSweep({ step }: BookSweepDeps): BookSweep {
  let timer: NodeJS.Timeout | undefined;
  let entered = 0;
  let isBusy = false;
  let isClosed = false;

  async function sweep(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    isBusy = true;
    entered = 0;
    // The lock or the disk refused: the next step tries again.
    const hasMore = await step().catch(() => true);
    isBusy = false;
    if (hasMore || entered > 0) schedule();
  }

  function schedule(): void {
    if (isClosed || isBusy) return;
    if (entered >= SHOW_STEP) void sweep();
    else timer ??= setTimeout(() => void sweep(), EVERY_MS).unref();
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
