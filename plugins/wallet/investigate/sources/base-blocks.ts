import type { Upstream } from "#plugin";
import { toJsonFields } from "../../fields.ts";
import { askNode, toMisfit } from "../../node.ts";

/** A block's number and time. */
export interface Block {
  readonly number: bigint;
  /** Unix seconds. */
  readonly at: number;
}

/** Reads a block's header. @throws Problem `upstream-failed`. */
export async function readBlock(node: Upstream, block: bigint | "latest", signal: AbortSignal): Promise<Block> {
  const method = "eth_getBlockByNumber";
  const found = await askNode(node, [method, [block === "latest" ? block : toQuantity(block), false]], signal);
  const { number, timestamp } = toJsonFields(found);
  if (![number, timestamp].every((value) => typeof value === "string" && QUANTITY.test(value)))
    throw toMisfit(node, method);
  return { number: BigInt(number as string), at: Number(timestamp) };
}

/**
 * When the address first sent a transaction or was created as a contract (Unix seconds): a binary search for the block in
 * which its nonce left zero. Null when it never did. @throws Problem `upstream-failed`, also when the node has pruned old state.
 */
export async function readFirstSent(node: Upstream, address: string, signal: AbortSignal): Promise<number | null> {
  const hasSent = async (block: bigint | "latest"): Promise<boolean> => {
    const method = "eth_getTransactionCount";
    const count = await askNode(node, [method, [address, block === "latest" ? block : toQuantity(block)]], signal);
    if (typeof count !== "string" || !QUANTITY.test(count)) throw toMisfit(node, method);
    return BigInt(count) > 0n;
  };
  if (!(await hasSent("latest"))) return null;
  let [before, since] = [-1n, (await readBlock(node, "latest", signal)).number];
  while (since - before > 1n) {
    const middle = (before + since) / 2n;
    if (await hasSent(middle)) since = middle;
    else before = middle;
  }
  return (await readBlock(node, since, signal)).at;
}

/** The time of Base's first block, the seconds between blocks, and how old a node's newest one may be. */
const [GENESIS_SECOND, BLOCK_SECONDS, MOST_LAG_SECONDS] = [1_686_789_347, 2, 300];

/**
 * Whether newer blocks must exist than a node's newest one. Only on a chain that keeps Base's pace can this be told.
 * @param now Unix milliseconds
 */
export const isBehind = ({ number, at }: Block, now: number): boolean =>
  at === GENESIS_SECOND + BLOCK_SECONDS * Number(number) && now / 1000 - at > MOST_LAG_SECONDS;

const QUANTITY = /^0x[0-9a-f]{1,16}$/i;

/** A JSON-RPC quantity. */
export const toQuantity = (value: bigint): string => `0x${value.toString(16)}`;
