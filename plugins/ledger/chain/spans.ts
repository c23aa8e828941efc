import { Problem } from "#plugin";
import type { BlockSpan } from "./blocks.ts";

/** How each part of a span is read. */
export interface SpanWork {
  /** Reads one part. @throws Problem `upstream-failed` when the node refuses it. */
  readonly read: (span: BlockSpan) => Promise<void>;
  /** Called after each part with the number of blocks read so far. */
  readonly report: (blocks: number) => void;
}

/** Most nodes allow this many blocks per query. */
const FIRST_SIZE = 10_000;
const LARGEST_SIZE = 160_000;
const WORKERS = 4;
/** After this many parts the size is doubled. */
const PARTS_PER_GROWTH = 32;

/**
 * Reads a long span in parts, several at a time. A refused part is read in halves, and later parts are as small: nodes
 * limit blocks, results or bytes, and word their refusals differently. The refusal of a single block is final.
 */
export async function readInParts({ first, last }: BlockSpan, { read, report }: SpanWork): Promise<void> {
  let next = first;
  let size = FIRST_SIZE;
  let parts = 0;
  let blocks = 0;
  await Promise.all(Array.from({ length: WORKERS }, work));

  async function work(): Promise<void> {
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
      await read(span);
    } catch (error) {
      if (!isRefusal(error) || span.first === span.last) throw error;
      const middle = Math.floor((span.first + span.last) / 2);
      size = Math.min(size, middle - span.first + 1);
      await readWhole({ first: span.first, last: middle });
      return readWhole({ first: middle + 1, last: span.last });
    }
    parts += 1;
    if (parts % PARTS_PER_GROWTH === 0) size = Math.min(2 * size, LARGEST_SIZE);
    blocks += span.last - span.first + 1;
    report(blocks);
  }
}

const isRefusal = (error: unknown): boolean => error instanceof Problem && error.code === "upstream-failed";
