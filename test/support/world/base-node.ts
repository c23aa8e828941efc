import { NodeRpcError } from "../../../runtime/sandbox/json-rpc.ts";
import { BASE, type Mined, mine, type Payment, toBalance, toHeight } from "./payments.ts";
import { openWorldSource, type WorldSource, type WorldSourceOptions } from "./source.ts";

/** The data and limits of a Base node. */
export interface BaseNodeOptions extends Omit<WorldSourceOptions, "answer"> {
  readonly payments: readonly Payment[];
  /** The most blocks that one search of logs may span: 10 000 at most public nodes, 1000 at some. */
  readonly window?: number;
  /** The most logs that one search may find. A search with more is refused as by Infura and Alchemy. */
  readonly mostLogs?: number;
  /** How many blocks back states are kept; default: all, as at an archive node. */
  readonly states?: number;
  /** How far its newest block is behind; default: not at all. */
  readonly lagSeconds?: number;
  /** The message that refuses a search of too many blocks. */
  readonly tooWide?: (window: number) => string;
}

const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const BALANCE_OF = "0x70a08231";
const toHex = (value: bigint | number): string => `0x${value.toString(16)}`;
const toWord = (value: string): string => `0x${value.replace(/^0x/, "").padStart(64, "0")}`;

/**
 * A Base node over HTTP with the block ranges, limits and pruned states of public nodes. Also stands for an Ethereum
 * node, then without payments and names. ETH has no logs, as on the chain.
 */
export async function openBaseNode(options: BaseNodeOptions): Promise<WorldSource> {
  const { clock, payments, lagSeconds = 0 } = options;
  const mined = mine(payments, clock.now());
  const newest = (): number => toHeight(clock.now() - lagSeconds * 1000);

  const toBlock = (tag: unknown): number => (/^0x/.test(String(tag)) ? Number(tag) : newest());
  const toState = (tag: unknown): number => {
    const block = toBlock(tag);
    if (newest() - block > (options.states ?? newest())) throw new NodeRpcError(-32000, "missing trie node");
    return block;
  };
  const methods: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    eth_chainId: () => "0x2105",
    eth_blockNumber: () => toHex(newest()),
    eth_getBlockByNumber: ([tag]) => (toBlock(tag) > newest() ? null : toHeader(toBlock(tag))),
    eth_getBalance: ([address, tag]) => toHex(toBalance(before(mined, toState(tag)), String(address), "ETH")),
    eth_getCode: () => "0x",
    eth_call: ([call, tag]) => readToken(call as TokenCall, before(mined, toState(tag))),
    eth_getTransactionCount: ([address, tag]) => {
      const sent = before(mined, toState(tag)).filter(({ from, isInternal }) => from === address && !isInternal);
      return toHex(sent.length);
    },
    eth_getTransactionByHash: ([hash]) => toTransaction(mined, String(hash)),
    eth_getLogs: ([filter]) => findLogs(mined, filter as LogFilter, { ...options, toBlock }),
  };
  return openWorldSource({
    ...options,
    answer({ name, params }) {
      const method = methods[name];
      if (!method) throw new NodeRpcError(-32601, `the method ${name} does not exist/is not available`);
      return method(params);
    },
  });
}

const before = (mined: readonly Mined[], block: number): Mined[] => mined.filter((each) => each.block <= block);

const toHeader = (block: number) => ({
  number: toHex(block),
  hash: toWord(toHex(block)),
  timestamp: toHex(BASE.genesis + block * BASE.pace),
});

interface TokenCall {
  readonly to: string;
  readonly data: string;
}

/** The universal resolver of ENS, and its error for an unregistered name (ENSIP-23): ResolverNotFound. */
const ENS = "0xeeeeeeee14d718c2b47d9923deab1335e144eeee";
const NO_NAME = `0x77209fe8${toWord("0x20").slice(2)}${toWord("0x0").slice(2)}`;

function readToken({ to, data }: TokenCall, mined: readonly Mined[]): string {
  if (to.toLowerCase() === ENS) throw new NodeRpcError(3, "execution reverted", NO_NAME);
  if (to.toLowerCase() !== USDC || !data.startsWith(BALANCE_OF)) throw new NodeRpcError(3, "execution reverted");
  return toWord(toHex(toBalance(mined, `0x${data.slice(-40).toLowerCase()}`, "USDC")));
}

function toTransaction(mined: readonly Mined[], hash: string) {
  const found = mined.find(({ digest }) => `0x${digest}` === hash);
  if (!found) return null;
  const { from, to, block, input = "0x", asset, units } = found;
  const value = toHex(asset === "ETH" ? units : 0n);
  return { hash, from, to: asset === "ETH" ? to : USDC, blockNumber: toHex(block), input, value };
}

interface LogFilter {
  readonly address: string | readonly string[];
  readonly fromBlock: string;
  readonly toBlock: string;
  readonly topics: readonly (string | readonly string[] | null)[];
}

interface SearchRules extends Pick<BaseNodeOptions, "window" | "mostLogs" | "tooWide"> {
  readonly toBlock: (tag: unknown) => number;
}

function findLogs(mined: readonly Mined[], filter: LogFilter, { window, mostLogs, tooWide, toBlock }: SearchRules) {
  const [from, to] = [toBlock(filter.fromBlock), toBlock(filter.toBlock)];
  if (window !== undefined && to - from + 1 > window)
    throw new NodeRpcError(
      -32000,
      tooWide?.(window) ?? `eth_getLogs is limited to a ${window.toLocaleString("en")} range`,
    );
  const isAsked = [filter.address].flat().some((address) => address.toLowerCase() === USDC);
  const within = mined.filter(({ asset, block }) => asset === "USDC" && block >= from && block <= to);
  const found = isAsked ? within.map(toLog).filter((log) => fits(log.topics, filter.topics)) : [];
  if (found.length > (mostLogs ?? found.length))
    throw new NodeRpcError(-32005, `query returned more than ${mostLogs} results`);
  return found;
}

const toLog = ({ from, to, units, block, digest, logIndex }: Mined) => ({
  address: USDC,
  topics: [TRANSFER, toWord(from), toWord(to)],
  data: toWord(toHex(units)),
  blockNumber: toHex(block),
  blockHash: toWord(toHex(block)),
  transactionHash: `0x${digest}`,
  transactionIndex: "0x0",
  logIndex: toHex(logIndex),
  removed: false,
});

const fits = (topics: readonly string[], wanted: LogFilter["topics"]): boolean =>
  wanted.every((one, at) => one === null || [one].flat().some((each) => each.toLowerCase() === topics[at]));
