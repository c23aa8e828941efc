import { Problem, type Upstream } from "#plugin";
import { toIso } from "../period.ts";

/** Block times and blooms from block headers. */
export interface Headers {
  /** Unix seconds; undefined for a block that does not exist (yet). */
  timeOf(block: number): Promise<number | undefined>;
  /** The bloom filter of a block's logs, 256 bytes in hex; undefined where the node shows none. Not cached: it is large. */
  bloomOf(block: number): Promise<string | undefined>;
  newest(): Promise<Header>;
  /** The error for a node that lacks newer blocks. */
  toBehind(newest: Header): Problem;
  /** The error for a node that lacks a block which must exist. */
  toForgotten(block: number): Problem;
}

/** A block's number and time. */
export interface Header {
  readonly number: number;
  /** Unix seconds. */
  readonly time: number;
}

/**
 * Caches the time of each header that it reads; a block that does not exist may be mined meanwhile. @throws (the methods do)
 * Problem `upstream-failed`; the signal's reason.
 */
export function createHeaders(node: Upstream, signal: AbortSignal): Headers {
  const times = new Map<number, Promise<number | undefined>>();

  async function read(tag: string): Promise<(Header & { readonly bloom: string | undefined }) | undefined> {
    const { result, error } = await node.rpc("eth_getBlockByNumber", [tag, false], { signal });
    if (error)
      throw new Problem("upstream-failed", `${node.title} refused to read a block (${error.code})`, { cause: error });
    if (result === null) return undefined;
    const { number, timestamp, logsBloom } = result as Readonly<Record<string, unknown>>;
    const bloom = typeof logsBloom === "string" && BLOOM.test(logsBloom) ? logsBloom : undefined;
    return { number: toCount(number, node), time: toCount(timestamp, node), bloom };
  }

  async function readBlock(block: number) {
    const header = await read(toQuantity(block));
    if (header && header.number !== block)
      throw new Problem("upstream-failed", `${node.title} answered with another block than was asked for`);
    return header;
  }

  return {
    async timeOf(block) {
      const reading = times.get(block) ?? readBlock(block).then((header) => header?.time);
      times.set(block, reading);
      const time = await reading;
      if (time === undefined) times.delete(block);
      return time;
    },
    bloomOf: async (block) => (await readBlock(block))?.bloom,
    async newest() {
      const header = await read("latest");
      if (!header) throw new Problem("upstream-failed", `${node.title} knows no newest block`);
      times.set(header.number, Promise.resolve(header.time)); // Another node behind the same address may not know it yet.
      return header;
    },
    toBehind: ({ time }) =>
      new Problem("upstream-failed", `${node.title} is behind: its newest block is of ${toIso(time)}`),
    toForgotten: (block) => new Problem("upstream-failed", `${node.title} does not know block ${block}`),
  };
}

const BLOOM = /^0x[0-9a-f]{512}$/i;

/** A number as a JSON-RPC quantity: `0x1a`. */
export const toQuantity = (number: number): string => `0x${number.toString(16)}`;

/** Reads a JSON-RPC quantity. @throws Problem `upstream-failed` for anything else. */
export function toCount(text: unknown, { title }: Upstream): number {
  const count = typeof text === "string" && /^0x[0-9a-f]{1,14}$/i.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(count)) return count;
  throw new Problem("upstream-failed", `${title} answered with something else than a number`);
}
