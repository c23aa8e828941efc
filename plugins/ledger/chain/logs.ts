import { Problem, type Upstream } from "#plugin";
import type { BlockSpan } from "./blocks.ts";
import { toCount, toQuantity } from "./headers.ts";

/** USDC on Base, in lower case. */
export const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";

/** The hashes of the event signatures (topic 0). */
export const EVENTS = {
  /** Transfer(address indexed from, address indexed to, uint256 value). */
  transfer: "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
  /** AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce). */
  authorizationUsed: "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5",
} as const;

/** One USDC event; hex in lower case. */
export interface TokenLog {
  /** The event's hash and its two indexed values. */
  readonly topics: readonly [event: string, first: string, second: string];
  /** For a transfer: the amount, 32 bytes. */
  readonly data: string;
  readonly block: number;
  readonly tx: string;
  /** The log index in the block. */
  readonly index: number;
}

/** A topic filter as in `eth_getLogs`: for each position, the accepted words, or null for any. */
export type Topics = readonly (readonly string[] | null)[];

/** A larger answer counts as a refusal, and the range is halved. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * A time in the past: a ledger's thousands of requests give way to requests of other services, and wait no longer than these.
 */
const GIVES_WAY = 1;

/** Reads USDC events, and checks that each one matches the filter. Removed ones are left out. @throws Problem `upstream-failed`; the signal's reason. */
export async function readLogs(
  node: Upstream,
  { span, topics }: { readonly span: BlockSpan; readonly topics: Topics },
  signal: AbortSignal,
): Promise<readonly TokenLog[]> {
  const filter = { address: USDC, fromBlock: toQuantity(span.first), toBlock: toQuantity(span.last), topics };
  const request = { signal, maxBytes: MAX_BYTES, patientUntil: GIVES_WAY };
  const { result, error } = await node.rpc("eth_getLogs", [filter], request);
  if (error)
    throw new Problem("upstream-failed", `${node.title} refused to read logs (${error.code})`, { cause: error });
  if (!Array.isArray(result)) throw toMisfit(node);
  return result.filter(isInChain).map((log: unknown) => {
    const read = toLog(log, node);
    const isAsked = topics.every((words, at) => words === null || words.includes(read.topics[at] ?? ""));
    if (!isAsked || read.block < span.first || read.block > span.last) throw toMisfit(node);
    return read;
  });
}

/** Whether a log was not removed by a reorganization of the chain. */
const isInChain = (log: unknown): boolean => (log as Json | null)?.removed !== true;

/** An address as a topic: 32 bytes. @param address in lower case. */
export const toTopic = (address: string): string => `0x${address.slice(2).padStart(64, "0")}`;

/** The address in a topic, in lower case. */
export const toTopicAddress = (topic: string): string => `0x${topic.slice(-40)}`;

const WORD = /^0x[0-9a-f]{64}$/;

function toLog(value: unknown, node: Upstream): TokenLog {
  const { address, topics: given, data: bytes, blockNumber, transactionHash, logIndex } = (value ?? {}) as Json;
  const topics = Array.isArray(given) ? given.map(toLower) : [];
  const [data, tx] = [toLower(bytes), toLower(transactionHash)];
  const isToken = toLower(address) === USDC && topics.length === 3 && [...topics, tx].every((word) => WORD.test(word));
  if (!isToken || (topics[0] === EVENTS.transfer && !WORD.test(data))) throw toMisfit(node);
  const words = topics as unknown as TokenLog["topics"]; // Exactly three: checked above.
  return { topics: words, data, tx, block: toCount(blockNumber, node), index: toCount(logIndex, node) };
}

type Json = Readonly<Record<string, unknown>>;

const toLower = (value: unknown): string => String(value).toLowerCase();

const toMisfit = ({ title }: Upstream): Problem =>
  new Problem("upstream-failed", `${title} answered eth_getLogs with something else`);
