import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "#plugin";
import type { BlockSpan } from "./blocks.ts";
import { type SpanBudget, watchPace } from "./pace.ts";

export interface SpanWork {
  /** Reads one part. @throws Problem `upstream-failed` when the node refuses it. */
  readonly read: (span: BlockSpan) => Promise<void>;
  /** Called after each part with the number of blocks read so far. */
  readonly report: (blocks: number) => void;
  readonly signal: AbortSignal;
  /** The longest pause that the node may ask for, in seconds. */
  readonly longestPauseSeconds: number;
  /** Waits for a time; tests may replace it. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** When set, reading stops as soon as the pace shows that the whole span takes too long. */
  readonly budget?: SpanBudget | undefined;
}

/** The usual limits of public nodes, in blocks per query. After a refusal the next smaller one is tried. */
const SIZES = [10_000, 5000, 2000, 1000, 500, 200, 100, 50, 20, 10, 5, 2, 1] as const;
const FIRST_SIZE = SIZES[0];
const LARGEST_SIZE = 160_000;
const WORKERS = 6;
/** After this many parts the size is doubled. Each refusal doubles the number, until a larger part is answered. */
const FIRST_PATIENCE = 32;
const LARGEST_PATIENCE = 1024;
/** How often in a row a part may be delayed. */
const MOST_PAUSES = 10;
/**
 * Reads a long span in parts, several at a time. A refused part is read in smaller parts, and so are later parts: nodes
 * limit blocks, results or bytes, and word their refusals differently. When the node asks for a pause, the same part is
 * read again after the pause. The refusal of a single block is final.
 */
export async function readInParts({ first, last }: BlockSpan, work: SpanWork): Promise<void> {
  const { read, report, signal, longestPauseSeconds, budget, pause = wait } = work;
  const watch = budget && watchPace(budget, last - first + 1);
  let next = first;
  let size: number = FIRST_SIZE;
  let parts = 0; // Since the size has changed.
  let patience = FIRST_PATIENCE;
  let refused = Number.POSITIVE_INFINITY;
  let blocks = 0;
  let isGivenUp = false;
  await Promise.all(Array.from({ length: WORKERS }, readNext));

  async function readNext(): Promise<void> {
    while (next <= last) {
      const span = { first: next, last: Math.min(next + size - 1, last) };
      next = span.last + 1;
      await readWhole(span).catch((error: unknown) => {
        next = last + 1; // Stops the other workers.
        throw error;
      });
    }
  }

  async function readWhole(span: BlockSpan): Promise<void> {
    try {
      await readPatiently(span);
    } catch (error) {
      if (isGivenUp || !isRefusal(error) || span.first === span.last) throw error;
      const length = span.last - span.first + 1;
      const smaller = SIZES.find((each) => each < length) ?? 1;
      if (smaller < size) [size, parts, patience] = [smaller, 0, Math.min(2 * patience, LARGEST_PATIENCE)];
      refused = Math.min(refused, length);
      for (let at = span.first; at <= span.last; at += smaller)
        await readWhole({ first: at, last: Math.min(at + smaller - 1, span.last) });
      return;
    }
    const length = span.last - span.first + 1;
    if (length >= refused) [refused, patience] = [Number.POSITIVE_INFINITY, FIRST_PATIENCE];
    parts += 1;
    if (parts >= patience) [size, parts] = [Math.min(2 * size, LARGEST_SIZE), 0];
    blocks += length;
    report(blocks);
    watch?.check(blocks);
  }

  async function readPatiently(span: BlockSpan): Promise<void> {
    for (let pauses = 0; ; pauses++) {
      try {
        return await read(span);
      } catch (error) {
        isGivenUp = watch?.isOver(blocks) ?? false;
        const seconds = pauseOf(error);
        if (isGivenUp || seconds === undefined || seconds > longestPauseSeconds || pauses === MOST_PAUSES) throw error;
        await pause(seconds * 1000, signal);
      }
    }
  }
}

const wait = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal });

const isRefusal = (error: unknown): boolean =>
  error instanceof Problem && error.code === "upstream-failed" && pauseOf(error) === undefined;

/** The pause in seconds that the node has asked for; undefined for any other failure. */
const pauseOf = (error: unknown): number | undefined =>
  error instanceof Problem && error.code === "upstream-failed" ? error.options.retryAfter : undefined;
