import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { bitsOf } from "../../../plugins/ledger/chain/kept.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";

/** Of Base: its first block's time, and the seconds between blocks. */
const GENESIS = 1_686_789_347;
export const toTime = (block: number): number => GENESIS + 2 * block;

export const WALLET = "0x7ab4e3c19f2d5a86b0c4e1d83f9a6752c1b0e8d4";
const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const AUTHORIZATION_USED = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";

/** One transfer that the node's chain holds. */
export interface Moved {
  readonly from?: string;
  readonly to: string;
  readonly amount: bigint;
  readonly block: number;
  /** False: by the payer's own transaction. */
  readonly isAuthorized?: boolean;
}

/** What `eth_getLogs` was asked, in numbers. */
export interface Asked {
  readonly first: number;
  readonly last: number;
  /** How many logs fit. */
  readonly results: number;
}

export interface BaseNode {
  readonly url: string;
  /** Every call of `eth_getLogs`, in order. */
  readonly asked: Asked[];
  /** How many headers were read. */
  headers: number;
  /** Lets logs come from the last one to the first one. */
  shuffle(): void;
  /** Puts another chain in the place of this one. */
  hold(moved: readonly Moved[]): void;
  /** A body that is answered in the place of the logs, with its status; undefined lets the logs through. */
  refuse(judge: (asked: Asked) => { readonly status: number; readonly body: string } | undefined): void;
  /** Shows blooms in headers, and answers no log of a block before this one, as a node does that has pruned them. */
  prune(before: number): void;
  /**
   * Keeps the newest block back until the newest one is asked for, as when it is mined meanwhile; or also then where it is
   * asked for by its number, as behind a balancer of nodes.
   */
  holdBack(byNumber?: boolean): void;
  /** The time of each block; Base's unless said otherwise. */
  tick(time: (block: number) => number): void;
  stop(): Promise<void>;
}

interface Log {
  readonly topics: readonly string[];
  readonly block: number;
  readonly [field: string]: unknown;
}

/** A node of Base on loopback, in memory, whose newest block is `newest`. */
export async function startBaseNode(newest: number): Promise<BaseNode> {
  let logs: readonly Log[] = [];
  let judge: Parameters<BaseNode["refuse"]>[0] = () => undefined;
  let time = toTime;
  let pruned: number | undefined;
  let heldBack: "no" | "until latest" | "by number" = "no";
  // A process that is busy for seconds would close connections that its own client is about to use.
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const { id, method, params } = JSON.parse(await text(request));
    const answer = (result: unknown): unknown => response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    if (method === "eth_getBlockByNumber") {
      node.headers += 1;
      if (params[0] === "latest" && heldBack === "until latest") heldBack = "no";
      const block = params[0] === "latest" ? newest : Number(params[0]);
      const logsBloom = pruned === undefined ? undefined : toBloom(logs.filter((log) => log.block === block));
      const header = { number: toQuantity(block), timestamp: toQuantity(time(block)), logsBloom };
      return answer(block > newest || (heldBack !== "no" && params[0] === toQuantity(newest)) ? null : header);
    }
    const [{ fromBlock, toBlock, topics }] = params;
    const [first, last] = [Number(fromBlock), Number(toBlock)];
    const since = Math.max(first, pruned ?? 0);
    const found = logs.filter((log) => log.block >= since && log.block <= last && fits(log, topics));
    const asked = { first, last, results: found.length };
    node.asked.push(asked);
    const refusal = judge(asked);
    return refusal ? response.writeHead(refusal.status).end(refusal.body) : answer(found);
  });
  const node: BaseNode = {
    url: await listenOnLoopback(server),
    asked: [],
    headers: 0,
    hold: (moved) => {
      logs = moved.flatMap(toLogs);
      pruned = undefined;
      node.asked.length = 0;
      node.headers = 0;
    },
    shuffle: () => {
      logs = logs.toReversed();
    },
    refuse: (decide) => {
      judge = decide;
    },
    prune: (before) => {
      pruned = before;
    },
    holdBack: (byNumber = false) => {
      heldBack = byNumber ? "by number" : "until latest";
    },
    tick: (next) => {
      time = next;
    },
    stop: () => closeServer(server),
  };
  return node;
}

const toQuantity = (number: number | bigint): string => `0x${number.toString(16)}`;
const toWord = (hex: string): string => `0x${hex.replace("0x", "").padStart(64, "0")}`;

const fits = ({ topics }: Log, wanted: readonly (readonly string[] | null)[]): boolean =>
  wanted.every((words, at) => words === null || words.includes(topics[at] ?? ""));

/** Each block of Base has transfers of other tokens, too. */
function toBloom(logs: readonly Log[]): string {
  const bloom = Buffer.alloc(256);
  for (const item of [TRANSFER, ...logs.flatMap(({ topics }) => [USDC, ...topics])])
    for (const bit of bitsOf(item))
      bloom.writeUInt8(bloom.readUInt8(255 - (bit >> 3)) | (1 << (bit & 7)), 255 - (bit >> 3));
  return `0x${bloom.toString("hex")}`;
}

/** Each in a transaction of its own, at the place in its block that its place in the list gives it. */
export function toLogs({ from = WALLET, to, amount, block, isAuthorized = true }: Moved, at: number): Log[] {
  const place = { address: USDC, blockNumber: toQuantity(block), block, transactionHash: toWord(toQuantity(at + 1)) };
  const transfer = {
    topics: [TRANSFER, toWord(from), toWord(to)],
    data: toWord(toQuantity(amount)),
    logIndex: toQuantity(2 * at + 1),
  };
  const used = {
    topics: [AUTHORIZATION_USED, toWord(from), toWord(toQuantity(at))],
    data: "0x",
    logIndex: toQuantity(2 * at),
  };
  return (isAuthorized ? [used, transfer] : [transfer]).map((log) => ({ ...place, ...log }));
}

/** An address that begins with e and ends in a number. */
export const toTopicAddress = (number: number): string => `0xe${number.toString(16).padStart(39, "0")}`;
