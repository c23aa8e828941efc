import { Problem } from "#plugin";
import type { BlockSpan } from "./blocks.ts";

/** What is done with each part of a span. */
export interface SpanWork {
  /** Reads one part. @throws Problem `upstream-failed` when it is refused. */
  readonly read: (span: BlockSpan) => Promise<void>;
  /** Told after each part how many blocks were read so far. */
  readonly report: (blocks: number) => void;
}

/** Most nodes allow so many blocks at once. */
const FIRST_SIZE = 10_000;
const LARGEST_SIZE = 160_000;
const WORKERS = 4;
/** After every so many parts the next ones are twice as large. */
const PATIENCE = 32;

/**
 * Reads a long span in parts, several at a time. A part that is refused is read in halves, and further parts are as small:
 * nodes refuse too many blocks, results or bytes in many ways, which need not be told apart. The refusal of a single block
 * is final.
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
        next = last + 1; // The others stop as well.
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
    if (parts % PATIENCE === 0) size = Math.min(2 * size, LARGEST_SIZE);
    blocks += span.last - span.first + 1;
    report(blocks);
  }
}

const isRefusal = (error: unknown): boolean => error instanceof Problem && error.code === "upstream-failed";
