import type { PublicClient } from "viem";

/**
 * The first block at or after a time; the number after the latest block when there is none.
 * @param at Unix milliseconds @param oldest no block below it is looked at
 */
export async function firstSince(chain: PublicClient, at: number, latest: bigint, oldest = 0n): Promise<bigint> {
  let [low, high] = [oldest, latest + 1n];
  // From the newest on, twice as far each time: many nodes have no old blocks any more, and some not yet the newest.
  for (let back = BEHIND; latest - back > low; back = 2n * back + 1n) {
    if ((await readTime(chain, latest - back)) < at) low = latest - back + 1n;
    else high = latest - back;
  }
  while (low < high) {
    const middle = (low + high) / 2n;
    if ((await readTime(chain, middle)) < at) low = middle + 1n;
    else high = middle;
  }
  return low;
}

/** How many blocks a node may be behind another one at the same address. */
const BEHIND = 31n;

/**
 * The number of the newest block. viem's `getBlockNumber` keeps an answer for each client for as long as the process lives,
 * and here each question has a client of its own.
 */
export async function readNewest(chain: PublicClient): Promise<bigint> {
  return BigInt(await chain.request({ method: "eth_blockNumber" }));
}

/** The time of a block: Unix milliseconds. */
export async function readTime(chain: PublicClient, blockNumber: bigint): Promise<number> {
  const { timestamp } = await chain.getBlock({ blockNumber });
  if (typeof timestamp !== "bigint") throw new TypeError(`block ${blockNumber} has no time`);
  return Number(timestamp) * 1000;
}
