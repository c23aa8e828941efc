import { keccak_256 } from "@noble/hashes/sha3";
import { Problem, type Upstream } from "#plugin";
import type { BlockSpan } from "./blocks.ts";
import type { Headers } from "./headers.ts";
import { EVENTS, readLogs, USDC } from "./logs.ts";

/** How many blocks at the beginning of a span are looked at, and how many of them must name transfers that are not there. */
const LOOKED_AT = 8;
const WITNESSES = 3;

/** A part of the chain, and how it is read. */
interface Reading {
  readonly headers: Headers;
  readonly span: BlockSpan;
  readonly signal: AbortSignal;
}

/**
 * Refuses a node that has pruned the logs of a span: many then answer `eth_getLogs` with an empty list instead of an error.
 * They keep the headers, whose blooms tell which events a block has. A bloom can be wrong about one block, not about
 * several of them without any transfer. Pruning begins with the oldest block, so the span's first blocks are looked at.
 * What cannot be read here is no sign of it: such failures are met when the span is read.
 * @throws Problem `upstream-failed`; the signal's reason.
 */
export async function checkKept(node: Upstream, reading: Reading): Promise<void> {
  const isPruned = await lacksLogs(node, reading).catch((error: unknown) => {
    reading.signal.throwIfAborted();
    if (error instanceof Problem) return false;
    throw error;
  });
  if (isPruned)
    throw new Problem("upstream-failed", `${node.title} has pruned the logs of block ${reading.span.first}`);
}

/** The first block whose logs are there settles it: usually that costs two requests. */
async function lacksLogs(node: Upstream, { headers, span: { first, last }, signal }: Reading): Promise<boolean> {
  let missing = 0;
  for (let block = first; block <= Math.min(last, first + LOOKED_AT - 1); block += 1) {
    const bloom = await headers.bloomOf(block);
    if (bloom === undefined) return false; // A node that shows no blooms.
    if (!namesTransfers(bloom)) continue;
    const logs = await readLogs(node, { span: { first: block, last: block }, topics: [[EVENTS.transfer]] }, signal);
    if (logs.length > 0) return false;
    missing += 1;
    if (missing === WITNESSES) return true;
  }
  return false;
}

/** Whether USDC may have moved in a block. @param bloom 256 bytes in hex. */
function namesTransfers(bloom: string): boolean {
  const bits = Buffer.from(bloom.slice(2), "hex");
  return [USDC, EVENTS.transfer].every((item) =>
    bitsOf(item).every((bit) => ((bits.at(-1 - (bit >> 3)) ?? 0) >> (bit & 7)) & 1),
  );
}

/** The three bits of an address or a topic (Ethereum's Yellow Paper, section 4.4.1). @param item 0x-prefixed hex. */
export function bitsOf(item: string): readonly number[] {
  const hash = Buffer.from(keccak_256(Buffer.from(item.slice(2), "hex")));
  return [0, 2, 4].map((at) => hash.readUInt16BE(at) & 2047);
}
