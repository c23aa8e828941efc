import { Problem, type Upstream } from "#plugin";
import { toJsonFields } from "./fields.ts";
import { askNode, toMisfit } from "./node.ts";

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

/** The time of Base's first block, and the seconds between blocks. */
const [GENESIS_SECOND, BLOCK_SECONDS] = [1_686_789_347, 2];
/** How old a node's newest block may be. */
const MOST_LAG_SECONDS = 300;

/**
 * Whether newer blocks must exist than a node's newest one. Only on a chain that keeps Base's pace can this be told.
 * @param now Unix milliseconds
 */
export const isBehind = ({ number, at }: Block, now: number): boolean =>
  at === GENESIS_SECOND + BLOCK_SECONDS * Number(number) && isOld(at, now);

/** Whether a newest block of this time, in Unix seconds, is too old. @param now Unix milliseconds */
export const isOld = (at: number, now: number): boolean => now / 1000 - at > MOST_LAG_SECONDS;

/** The error for a node that lacks newer blocks. @param at when its newest one was mined, in Unix seconds. */
export const toBehind = ({ title }: Upstream, { at }: Pick<Block, "at">): Problem =>
  new Problem(
    "upstream-failed",
    `${title} is behind: its newest block is of ${new Date(at * 1000).toISOString().slice(0, 16)}Z`,
  );

/** A JSON-RPC quantity of at most 64 bits. */
export const QUANTITY = /^0x[0-9a-f]{1,16}$/i;

/** A JSON-RPC quantity. */
export const toQuantity = (value: bigint): string => `0x${value.toString(16)}`;
