import type { PublicClient } from "viem";
import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { EVM_ADDRESS } from "../../core/account.ts";
import type { Transfer, TransferReader } from "../../core/books/audit.ts";
import type { Span } from "../../core/books/books.ts";
import { EVM_HASH } from "../../core/transaction.ts";
import { firstSince, readNewest, readTime } from "./block-times.ts";
import type { EvmClient } from "./client.ts";
import { readReceipt } from "./reads.ts";
import { EIP3009_ABI, plain, TRANSFER_EVENT } from "./token-abi.ts";

export interface EvmTransfersOptions {
  readonly client: EvmClient;
  /** The token. */
  readonly asset: string;
}

/** How many blocks one query spans at first; halved when the node refuses that many. */
const CHUNK_BLOCKS = 2000n;
/** A node that refuses fewer blocks has another problem: the free plans of two large providers allow 5 and 10. */
const SMALLEST_CHUNK = 5n;

/** Reads transfers of an ERC-20 token from its events. */
export function createEvmTransfers({ client, asset }: EvmTransfersOptions): TransferReader {
  const token = plain(asset);
  /** What a node refuses, and what makes no sense, is no answer; nor is what a node of another chain says. */
  const ask: EvmClient["ask"] = (work) =>
    client.ask(work).catch((cause: unknown) => {
      if (cause instanceof Problem && cause.code !== "unavailable") throw cause;
      const [why] = (cause as Error).message.split("\n", 1);
      throw new Problem("upstream-failed", `The node of ${client.name} does not tell its transfers: ${why}`, { cause });
    });

  return {
    begin: () => ask((chain) => readTime(chain, 0n)),
    async read(receivers, span) {
      const { from, to } = await ask((chain) => blocksOf(chain, span));
      const found: Transfer[] = [];
      let chunk = CHUNK_BLOCKS;
      for (let at = from; at <= to; ) {
        const last = at + chunk - 1n < to ? at + chunk - 1n : to;
        try {
          const range = { fromBlock: at, toBlock: last };
          found.push(...(await ask((chain) => readTransfers(chain, token, receivers, range))));
          at = last + 1n;
        } catch (error) {
          if (chunk <= SMALLEST_CHUNK) throw error;
          chunk /= 2n;
        }
      }
      return found;
    },
    async of(hash, receivers) {
      // A facilitator may have reported anything.
      if (!EVM_HASH.test(hash) || !receivers.every((address) => EVM_ADDRESS.test(address))) return [];
      return ask(async (chain) => {
        const { parseEventLogs } = await import("viem");
        const receipt = await readReceipt(chain, hash as Hex);
        if (receipt?.status !== "success") return [];
        // Its own events: a node that is behind would list none of its block.
        const ofToken = receipt.logs.filter(({ address }) => address.toLowerCase() === token);
        const all = parseEventLogs({ abi: EIP3009_ABI, eventName: "Transfer", logs: ofToken });
        const wanted = receivers.map(plain);
        const transfers = all.filter(({ args }) => wanted.includes(plain(args.to)));
        const at = transfers.length > 0 ? await readTime(chain, receipt.blockNumber) : 0;
        return transfers.map(({ args: { from, to, value } }) => ({ transaction: hash, from, to, amount: value, at }));
      });
    },
    isPayment: (hash) =>
      ask(async (chain) => {
        const { parseEventLogs } = await import("viem");
        const receipt = await chain.getTransactionReceipt({ hash: hash as Hex });
        const ofToken = receipt.logs.filter(({ address }) => address.toLowerCase() === token);
        return parseEventLogs({ abi: EIP3009_ABI, logs: ofToken }).some(
          ({ eventName }) => eventName === "AuthorizationUsed",
        );
      }),
  };
}

interface Blocks {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

async function readTransfers(
  chain: PublicClient,
  address: Hex,
  receivers: readonly string[],
  blocks: Blocks,
): Promise<Transfer[]> {
  const logs = await chain.getLogs({
    address,
    event: TRANSFER_EVENT,
    args: { to: receivers.map(plain) },
    ...blocks,
  });
  const times = new Map<bigint, number>();
  const timeOf = async (number: bigint): Promise<number> => {
    const known = times.get(number);
    if (known !== undefined) return known;
    const time = await readTime(chain, number);
    times.set(number, time);
    return time;
  };
  const found: Transfer[] = [];
  for (const { transactionHash: transaction, args, blockNumber } of logs) {
    const { from = null, to = "", value = 0n } = args;
    if (value === 0n) continue; // Anybody can send nothing, even by an authorization.
    found.push({ transaction, from, to, amount: value, at: await timeOf(blockNumber) });
  }
  return found;
}

/** The blocks of a span: the first block at or after its start, and the last block before its end. */
async function blocksOf(chain: PublicClient, span: Span): Promise<{ readonly from: bigint; readonly to: bigint }> {
  const latest = await readNewest(chain);
  return { from: await firstSince(chain, span.from, latest), to: (await firstSince(chain, span.to, latest)) - 1n };
}
