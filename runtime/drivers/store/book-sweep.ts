import type { Log } from "../../api/capabilities.ts";
import { type LeftToShow, SHOW_ROUND } from "../books/showing.ts";

/** Moves entered events into the readable tables of the book, some time after they were entered. */
export interface BookSweep {
  /** Notes that an event was entered. */
  note(): void;
  /** A sentence for the operator while steps fail again and again. */
  warnings(): readonly string[];
  close(): void;
}

export interface BookSweepDeps {
  /** Does one step in a transaction. */
  readonly step: () => Promise<LeftToShow>;
  readonly log: Log;
}

/** The longest delay while nobody reads the book. */
const EVERY_MS = 5000;
/** The pause between two steps of a round: each takes about ten milliseconds of the thread. */
const PAUSE_MS = 20;
/** After so many failures in a row, the operator is told: a lock or a full disk is soon over, or told elsewhere. */
const TOLD_FAILURES = 3;

/** A round begins after enough events or enough time: the larger the round, the cheaper each line. */
export function createBookSweep({ step, log }: BookSweepDeps): BookSweep {
  let timer: NodeJS.Timeout | undefined;
  let entered = 0;
  let isBusy = false;
  /** Whether a round is to go on. */
  let isAmidst = false;
  let isClosed = false;
  let failures = 0;
  let reason = "";

  async function sweep(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    isBusy = true;
    if (!isAmidst) entered = 0;
    const left = await step().then(succeed, fail);
    isBusy = false;
    isAmidst = left === "round";
    if (left !== "nothing" || entered > 0) schedule();
  }

  function succeed(left: LeftToShow): LeftToShow {
    if (failures >= TOLD_FAILURES) log.info("book.shown-again");
    failures = 0;
    return left;
  }

  /** The next step tries again. */
  function fail(error: Error): LeftToShow {
    failures += 1;
    reason = error.message;
    if (failures === TOLD_FAILURES && !isClosed) log.error("book.not-shown", { error });
    return "lines";
  }

  function schedule(): void {
    if (isClosed || isBusy) return;
    if (!isAmidst && entered >= SHOW_ROUND) void sweep();
    else timer ??= setTimeout(() => void sweep(), isAmidst ? PAUSE_MS : EVERY_MS).unref();
  }

  return {
    note() {
      entered += 1;
      schedule();
    },
    warnings: () =>
      failures < TOLD_FAILURES
        ? []
        : [`The newest sales are written down, and cannot be read in the book until this is mended: ${reason}`],
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
