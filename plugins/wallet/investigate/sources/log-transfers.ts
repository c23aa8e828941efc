import type { Upstream } from "#plugin";
import { QUANTITY, toQuantity } from "../../base-blocks.ts";
import { type JsonFields, toJsonFields } from "../../fields.ts";
import { USDC_ON_BASE } from "../../intel/evm-reads.ts";
import { toMisfit } from "../../node.ts";
import type { BlockRange, Refusal } from "./search-back.ts";
import { mergeTransfers, type Transfer } from "./transfers.ts";

/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const MAX_BYTES = 16 * 1024 * 1024;

interface LogSearch extends BlockRange {
  /** A block's time in Unix seconds. */
  readonly toTime: (block: bigint) => number;
  readonly signal: AbortSignal;
}

/**
 * The USDC that an address received or sent in a range of blocks. Any JSON-RPC error counts as a refusal, because nodes
 * word "too many" differently. @throws Problem `upstream-failed`; the signal's reason.
 */
export async function findLogTransfers(
  node: Upstream,
  address: string,
  { from, to, toTime, signal }: LogSearch,
): Promise<Transfer[] | Refusal> {
  const word = `0x${address.slice(2).padStart(64, "0")}`;
  const range = { address: USDC_ON_BASE, fromBlock: toQuantity(from), toBlock: toQuantity(to) };
  const answers = await Promise.all(
    [
      [TRANSFER, word],
      [TRANSFER, null, word],
    ].map((topics) => node.rpc("eth_getLogs", [{ ...range, topics }], { signal, maxBytes: MAX_BYTES })),
  );
  const refusal = answers.find(({ error }) => error)?.error;
  if (refusal) return { limit: toNamedLimit(refusal.message, to - from + 1n) };
  return mergeTransfers(
    answers.map(({ result }) => {
      if (!Array.isArray(result)) throw toMisfit(node, "eth_getLogs");
      return result.flatMap((log: unknown) => {
        const fields = toJsonFields(log);
        if (!isAsked(fields, word)) throw toMisfit(node, "eth_getLogs");
        return toTransfer(node, fields, toTime);
      });
    }),
  );
}

/** Whether a log is a transfer of USDC by or to the address: a node that ignores the filter gives those of any token. */
function isAsked({ address, topics }: JsonFields, word: string): boolean {
  const [event, ...parties] = Array.isArray(topics) ? topics.map((topic) => String(topic).toLowerCase()) : [];
  const isUsdc = address === undefined || String(address).toLowerCase() === USDC_ON_BASE.toLowerCase();
  return isUsdc && event === TRANSFER && parties.includes(word);
}

/** The largest number of blocks that a refusal names: `limited to a 10,000 range`. Counts of results are ignored. */
function toNamedLimit(message: string, asked: bigint): bigint | undefined {
  if (!/range|block/i.test(message) || /results/i.test(message)) return undefined;
  const numbers = message.replaceAll(/(?<=\d)[,_'](?=\d{3})/g, "").match(/\b\d{2,7}\b/g) ?? [];
  const limits = numbers.map(BigInt).filter((limit) => limit < asked);
  return limits.sort((one, other) => Number(other - one))[0];
}

function toTransfer(node: Upstream, log: JsonFields, toTime: LogSearch["toTime"]): Transfer[] {
  const { topics, data, blockNumber, blockTimestamp, transactionHash, logIndex, removed } = log;
  const [, from, to] = Array.isArray(topics) ? (topics as unknown[]) : [];
  if (![from, to, data, transactionHash].every(isWord) || ![blockNumber, logIndex].every(isHex))
    throw toMisfit(node, "eth_getLogs");
  const units = BigInt(data as string);
  if (units === 0n || removed === true) return []; // Anybody can make transfers of 0 in another's name.
  return [
    {
      id: `${transactionHash}:${Number(logIndex)}`,
      tx: transactionHash as string,
      from: toAddress(from as string),
      to: toAddress(to as string),
      asset: "USDC" as const,
      units: units.toString(),
      at: isHex(blockTimestamp) ? Number(blockTimestamp) : toTime(BigInt(blockNumber as string)),
    },
  ];
}

const toAddress = (word: string): string => `0x${word.slice(26)}`.toLowerCase();
const isWord = (value: unknown): boolean => typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value);
const isHex = (value: unknown): boolean => typeof value === "string" && QUANTITY.test(value);
