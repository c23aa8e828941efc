import type { PublicClient } from "viem";

/**
 * The first block at or after a time; the number after the latest block when there is none.
 * @param at Unix milliseconds @param oldest no block below it is looked at
 */
export async function firstSince(chain: PublicClient, at: number, latest: bigint, oldest = 0n): Promise<bigint> {
  let [low, high] = [oldest, latest + 1n];
  while (low < high) {
    const middle = (low + high) / 2n;
    if ((await readTime(chain, middle)) < at) low = middle + 1n;
    else high = middle;
  }
  return low;
}

/** The time of a block: Unix milliseconds. */
export async function readTime(chain: PublicClient, blockNumber: bigint): Promise<number> {
  const { timestamp } = await chain.getBlock({ blockNumber });
  if (typeof timestamp !== "bigint") throw new TypeError(`block ${blockNumber} has no time`);
  return Number(timestamp) * 1000;
}
