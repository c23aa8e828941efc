import PQueue from "p-queue";
import { GENESIS_SECOND, type Period } from "../period.ts";
import type { Header, Headers } from "./headers.ts";

/** A range of blocks, both ends included. */
export interface BlockSpan {
  readonly first: number;
  readonly last: number;
}

/** Base has mined a block every two seconds since its genesis. Used only when headers confirm it. */
const BLOCK_SECONDS = 2;

const HEADERS_AT_ONCE = 8;

/** How old a node's newest block may be at the end of a period. */
const MOST_LAG_SECONDS = 300;

/**
 * The blocks that were mined in a period; undefined when there are none.
 * @throws Problem `upstream-failed`, also when the node is behind the end of the period; the signal's reason.
 */
export async function toSpan(headers: Headers, { from, to }: Period): Promise<BlockSpan | undefined> {
  const [first, next] = await Promise.all([findSince(headers, from), findSince(headers, to + 1)]);
  return first < next ? { first, last: next - 1 } : undefined;
}

/**
 * The times of blocks, in Unix seconds: computed when the headers at both ends of the span confirm the two-second rule,
 * otherwise read from each block's header. @throws Problem `upstream-failed`; the signal's reason.
 */
export async function toTimes(
  headers: Headers,
  { first, last }: BlockSpan,
  blocks: readonly number[],
): Promise<(block: number) => number> {
  const ends = await Promise.all([headers.timeOf(first), headers.timeOf(last)]);
  if (ends[0] === toRegular(first) && ends[1] === toRegular(last)) return toRegular;
  const queue = new PQueue({ concurrency: HEADERS_AT_ONCE });
  const times = new Map<number, number>();
  const read = async (block: number): Promise<void> => {
    const time = await headers.timeOf(block);
    if (time === undefined) throw headers.toForgotten(block);
    times.set(block, time);
  };
  await queue.addAll([...new Set(blocks)].map((block) => () => read(block)));
  return (block) => times.get(block) ?? Number.NaN;
}

const toRegular = (block: number): number => GENESIS_SECOND + BLOCK_SECONDS * block;

/** The first block at or after a second, or newest + 1. Guesses by the two-second rule, and checks the guess with two headers. */
async function findSince(headers: Headers, second: number): Promise<number> {
  const guess = Math.max(0, Math.ceil((second - GENESIS_SECOND) / BLOCK_SECONDS));
  const [time, before] = await Promise.all([
    headers.timeOf(guess),
    guess === 0 ? Number.NEGATIVE_INFINITY : headers.timeOf(guess - 1),
  ]);
  if (time !== undefined && before !== undefined && before < second && second <= time) return guess;
  return search(headers, second);
}

async function search(headers: Headers, second: number): Promise<number> {
  const newest = await headers.newest();
  if (newest.time < second) {
    if (isBehind(newest, second)) throw headers.toBehind(newest);
    return newest.number + 1;
  }
  let low = 0;
  let high = newest.number;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const time = await headers.timeOf(middle);
    if (time === undefined) throw headers.toForgotten(middle);
    if (time < second) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether newer blocks must exist that the node does not know. Only on a chain that keeps Base's pace can this be told. */
const isBehind = ({ number, time }: Header, second: number): boolean =>
  time === toRegular(number) && second - time > MOST_LAG_SECONDS;
