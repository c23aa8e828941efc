import type { Problem } from "#plugin";

/** The time limit for reading a span. */
export interface SpanBudget {
  readonly ms: number;
  /** Makes the error. @param blocks how many blocks can be read within the budget */
  readonly toTooSlow: (blocks: number) => Problem;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/**
 * The time over which the pace is measured. The first measurement is ignored, because the query size is still being
 * adapted.
 */
const WINDOW_MS = 4000;
/** When the pace grows by this factor between two windows, it is measured once more before a decision. */
const GROWTH = 1.25;

/** Watches the pace at which a span is read. */
export interface PaceWatch {
  /** @throws the budget's error when the pace shows that the whole span takes too long, or when the time is over. */
  check(blocks: number): void;
  /** Whether the time is over although no block was read. @throws as `check` when some were. */
  isOver(blocks: number): boolean;
}

/** @param total how many blocks the span has. */
export function watchPace({ ms, now, toTooSlow }: SpanBudget, total: number): PaceWatch {
  const began = now();
  let mark = { at: began, blocks: 0, pace: Number.POSITIVE_INFINITY }; // The end of the last window.

  function check(blocks: number): void {
    if (isOver(blocks)) return;
    const at = now();
    if (at - mark.at < WINDOW_MS) return;
    const before = mark.pace;
    const pace = (blocks - mark.blocks) / (at - mark.at);
    mark = { at, blocks, pace };
    const reach = blocks + pace * (began + ms - at);
    const isRising = before === Number.POSITIVE_INFINITY || pace >= GROWTH * before;
    if (!isRising && reach < total) throw toTooSlow(Math.floor(reach));
  }

  function isOver(blocks: number): boolean {
    const elapsed = now() - began;
    if (elapsed <= ms) return false;
    if (blocks > 0) throw toTooSlow(Math.floor((blocks * ms) / elapsed));
    return true;
  }

  return { check, isOver };
}
