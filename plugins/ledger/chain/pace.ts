import type { Problem } from "#plugin";

/** How long reading may take. */
export interface SpanBudget {
  readonly ms: number;
  /** The error. @param blocks how many blocks can be read within the budget. */
  readonly toTooSlow: (blocks: number) => Problem;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/** Over how long the pace is measured. The first time says nothing: sizes are still being learned. */
const WINDOW_MS = 4000;
/** A pace that grows by so much from one window to the next is given another one. */
const GROWTH = 1.25;

/** Watches how fast a span is read. */
export interface PaceWatch {
  /** @throws the budget's error when the pace shows that the whole span takes longer, or when the time is over. */
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
