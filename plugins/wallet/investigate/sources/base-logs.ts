import type { Upstream } from "#plugin";
import { type JsonFields, toJsonFields } from "../../fields.ts";
import { USDC_ON_BASE } from "../../intel/evm-reads.ts";
import { toMisfit } from "../../node.ts";
import { type Block, readBlock, toQuantity } from "./base-blocks.ts";
import { type BlockRange, type Bounds, type SearchResult, searchBack } from "./search-back.ts";
import { type Depth, type History, type HistorySource, mergeTransfers } from "./transfers.ts";

/** Each search is two requests: incoming and outgoing. */
const BOUNDS: Readonly<Record<Depth, Bounds>> = {
  subject: { searches: 150, transfers: 10_000 },
  counterparty: { searches: 12, transfers: 1000 },
};
/** About 180 days: a block takes 2 seconds. */
const LOOK_BACK = 7_776_000n;
/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const MAX_BYTES = 16 * 1024 * 1024;

/** USDC transfers on Base from the token's logs, newest first, up to the bounds. */
export const createBaseLogs = (node: Upstream): HistorySource => ({
  title: node.title,
  async read(address, depth, signal) {
    const latest = await readBlock(node, "latest", signal);
    const floor = latest.number > LOOK_BACK ? latest.number - LOOK_BACK : 0n;
    const oldest = await readBlock(node, floor, signal);
    const toTime = createTimes(oldest, latest);
    const search = (span: BlockRange) => findTransfers(node, address, { ...span, toTime, signal });
    const found = await searchBack(search, { from: floor, to: latest.number }, BOUNDS[depth]);
    return toHistory(found, toTime, latest);
  },
});

interface SearchOptions extends BlockRange {
  readonly toTime: (block: bigint) => number;
  readonly signal: AbortSignal;
}

/** Any JSON-RPC error counts as a refusal: nodes word "too many" differently. */
async function findTransfers(node: Upstream, address: string, options: SearchOptions) {
  const { from, to, toTime, signal } = options;
  const word = `0x${address.slice(2).padStart(64, "0")}`;
  const range = { address: USDC_ON_BASE, fromBlock: toQuantity(from), toBlock: toQuantity(to) };
  const answers = await Promise.all(
    [
      [TRANSFER, word],
      [TRANSFER, null, word],
    ].map((topics) => node.rpc("eth_getLogs", [{ ...range, topics }], { signal, maxBytes: MAX_BYTES })),
  );
  if (answers.some(({ error }) => error)) return "refused";
  return mergeTransfers(
    answers.map(({ result }) => {
      if (!Array.isArray(result)) throw toMisfit(node, "eth_getLogs");
      return result.flatMap((log: unknown) => toTransfer(node, toJsonFields(log), toTime));
    }),
  );
}

function toTransfer(node: Upstream, log: JsonFields, toTime: SearchOptions["toTime"]) {
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

function toHistory({ transfers, since, end }: SearchResult, toTime: (block: bigint) => number, latest: Block): History {
  const blocks = `blocks ${since} (${toDay(toTime(since))}) to ${latest.number} (${toDay(latest.at)})`;
  const rest = end === undefined ? "" : `; older ones were not searched: ${end}`;
  const coverage = `USDC on Base by the token's logs, ${blocks}${rest}.`;
  return { transfers, coverage, isWhole: since === 0n && end === undefined, labels: [], firstSeenAt: null };
}

/** Interpolates block times: Base has a block every two seconds. */
function createTimes(oldest: Block, latest: Block): (block: bigint) => number {
  const blocks = Number(latest.number - oldest.number);
  const pace = blocks === 0 ? 0 : (latest.at - oldest.at) / blocks;
  return (block) => Math.round(latest.at - Number(latest.number - block) * pace);
}

const toAddress = (word: string): string => `0x${word.slice(26)}`.toLowerCase();
const toDay = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);
const isWord = (value: unknown): boolean => typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value);
const isHex = (value: unknown): boolean => typeof value === "string" && /^0x[0-9a-f]{1,16}$/i.test(value);
