import type { Block, Log, PublicClient } from "viem";
import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { EVM_HASH } from "../../core/transaction.ts";
import { type Eip3009, readEip3009 } from "../../core/x402/eip3009.ts";
import type { PaymentPayload, PaymentRequirements, SettlementReader, SettlementState } from "../../core/x402/x402.ts";
import { repeat } from "../http/retry.ts";
import { firstSince, readNewest } from "./block-times.ts";
import type { EvmClient } from "./client.ts";
import { readReceipt } from "./reads.ts";
import { EIP3009_ABI, plain } from "./token-abi.ts";

export interface EvmSettlementsOptions {
  readonly client: EvmClient;
  /** How far back from an authorization's end, or from the latest block, its use is searched for. */
  readonly windowBlocks?: bigint;
  /** How many blocks one query spans at first; halved when the node refuses that many. */
  readonly chunkBlocks?: bigint;
}

/**
 * Reads the state of an EIP-3009 authorization from the token itself: `authorizationState`, then the event of its use
 * and the transfer that belongs to it. Nothing is cached, so that only the chain's current state counts.
 */
export function createEvmSettlements(options: EvmSettlementsOptions): SettlementReader {
  const { client, windowBlocks = 50_000n, chunkBlocks = 2000n } = options;

  async function find(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    signal: AbortSignal,
    reported = "",
  ): Promise<SettlementState> {
    const authorization = readEip3009(payment.payload)?.authorization;
    if (!authorization) throw new Problem("internal", "The payment holds no EIP-3009 authorization");
    const asset = plain(offer.asset);
    const state = (): Promise<State> => client.ask((chain) => readState(chain, asset, authorization), signal);
    // Repeated from the start: behind a load balancer, a node may not know another node's newest block yet.
    const { block, isUsed } = await repeat(state, () => !signal.aborted, { retries: 1, delayMs: 100 });
    const isOver = block.timestamp >= BigInt(authorization.validBefore) + REORGANISED_SECONDS;
    if (!isUsed) return { state: isOver ? "dead" : "open" };
    const judge = (hash: Hex): Promise<boolean | undefined> =>
      client.ask((chain) => holdsTransfer(chain, hash, authorization, offer), signal);
    // Some nodes list the events of a few blocks only: a receipt is asked for first.
    const named = EVM_HASH.test(reported) ? await judge(reported as Hex) : undefined;
    if (named !== undefined) return named ? { state: "settled", transaction: reported } : { state: "dead" };
    const use = await findUse(asset, authorization, block, signal);
    if (!use)
      throw new Problem(
        "upstream-failed",
        `The use of a payment on ${client.name} is older than the blocks that are searched`,
      );
    if (use.isCanceled) return { state: "dead" };
    const { transactionHash: transaction } = use;
    const isPaid = await judge(transaction);
    if (isPaid === undefined)
      throw new Problem(
        "upstream-failed",
        `The receipt of ${transaction} does not show the payment whose use is listed in it`,
      );
    return isPaid ? { state: "settled", transaction } : { state: "dead" };
  }

  /**
   * The event of the use or of the cancellation, of which there is at most one. An authorization can be used before its
   * end only: on chains with many blocks a second, that is soon far from the latest block.
   */
  async function findUse(
    asset: Hex,
    of: Authorization,
    { number: latest, timestamp }: State["block"],
    signal: AbortSignal,
  ): Promise<Use | undefined> {
    const before = (block: bigint, count: bigint): bigint => (block > count ? block - count : 0n);
    if (timestamp < BigInt(of.validBefore))
      return searchUse(asset, of, { from: before(latest, windowBlocks), to: latest }, signal);
    const recent = await searchUse(asset, of, { from: before(latest, chunkBlocks - 1n), to: latest }, signal);
    if (recent) return recent;
    const at = Number(of.validBefore) * 1000;
    const end = await client.ask((chain) => firstSince(chain, at, latest, before(latest, FARTHEST_BLOCKS)), signal);
    const use = await searchUse(asset, of, { from: before(end, windowBlocks), to: end - 1n }, signal);
    if (use) return use;
    const newest = before(latest, windowBlocks);
    return searchUse(asset, of, { from: newest > end ? newest : end, to: latest }, signal); // Cancelled afterwards.
  }

  /** Searches the newest blocks first. */
  async function searchUse(
    asset: Hex,
    of: Authorization,
    { from: oldest, to: latest }: Blocks,
    signal: AbortSignal,
  ): Promise<Use | undefined> {
    let span = chunkBlocks;
    for (let to = latest; to >= oldest; ) {
      const from = to - span + 1n > oldest ? to - span + 1n : oldest;
      try {
        const use = await client.ask((chain) => readUse(chain, asset, of, { from, to }), signal);
        if (use) return use;
        to = from - 1n;
      } catch (error) {
        signal.throwIfAborted();
        if (span <= SMALLEST_CHUNK) throw error;
        span /= 2n;
      }
    }
    return undefined;
  }

  return {
    find: (payment, offer, signal, reported) =>
      find(payment, offer, signal, reported).catch((cause: unknown) => {
        if (cause instanceof Problem || signal.aborted) throw cause;
        const detail = `The token ${offer.asset} on ${client.name} does not tell what became of a payment`;
        throw new Problem("upstream-failed", detail, { cause });
      }),
    async balance(payer, { asset }, signal) {
      const { erc20Abi } = await import("viem");
      const call = { address: plain(asset), abi: erc20Abi, functionName: "balanceOf", args: [plain(payer)] } as const;
      return client.ask((chain) => chain.readContract(call), signal);
    },
    ping: (signal) => client.ask(readNewest, signal),
  };
}

/** The age of blocks that no reorganisation replaces: one with an earlier time could still hold the payment. */
const REORGANISED_SECONDS = 30n;

/** How far back the end of an authorization is searched for: longer than a day of four blocks a second. */
const FARTHEST_BLOCKS = 1_000_000n;

/** A node that refuses fewer blocks has another problem. */
const SMALLEST_CHUNK = 5n;

type Authorization = Eip3009["authorization"];

interface State {
  readonly block: Block<bigint, false, "latest">;
  readonly isUsed: boolean;
}

/** The latest block first, then the state at that block: an expiry must not be concluded from an older state. */
async function readState(chain: PublicClient, address: Hex, { from, nonce }: Authorization): Promise<State> {
  const block = await chain.getBlock({ blockTag: "latest" });
  const args = [plain(from), nonce] as const;
  const call = { address, abi: EIP3009_ABI, functionName: "authorizationState", args } as const;
  const isUsed = await chain.readContract({ ...call, blockNumber: block.number });
  return { block, isUsed };
}

interface Blocks {
  readonly from: bigint;
  readonly to: bigint;
}

interface Use {
  readonly transactionHash: Hex;
  readonly isCanceled: boolean;
}

async function readUse(
  chain: PublicClient,
  address: Hex,
  { from, nonce }: Authorization,
  blocks: Blocks,
): Promise<Use | undefined> {
  const { encodeEventTopics, numberToHex } = await import("viem");
  const topicsOf = (eventName: "AuthorizationUsed" | "AuthorizationCanceled") =>
    encodeEventTopics({ abi: EIP3009_ABI, eventName, args: { authorizer: plain(from), nonce } });
  const [used, ...args] = topicsOf("AuthorizationUsed");
  const [canceled] = topicsOf("AuthorizationCanceled");
  const topics = [[used, canceled], ...args];
  const range = { fromBlock: numberToHex(blocks.from), toBlock: numberToHex(blocks.to) };
  const [log] = await chain.request({ method: "eth_getLogs", params: [{ address, topics, ...range }] });
  return log?.transactionHash
    ? { transactionHash: log.transactionHash, isCanceled: log.topics[0] === canceled }
    : undefined;
}

/**
 * Whether the authorization's own transfer paid the offer; undefined where this transaction does not show it. FiatToken
 * (USDC, JPYC) emits the use and directly afterwards the transfer; a later transfer may belong to another authorization
 * in the same transaction.
 */
async function holdsTransfer(
  chain: PublicClient,
  hash: Hex,
  { from, nonce }: Authorization,
  offer: PaymentRequirements,
): Promise<boolean | undefined> {
  const { isAddressEqual, parseEventLogs } = await import("viem");
  const { status, logs = [] } = (await readReceipt(chain, hash)) ?? {};
  const ofAsset = logs.filter(({ address }: Log) => isAddressEqual(address, plain(offer.asset)));
  const events = parseEventLogs({ abi: EIP3009_ABI, logs: ofAsset });
  const isOurs = (authorizer: Hex, used: Hex): boolean =>
    isAddressEqual(authorizer, plain(from)) && used.toLowerCase() === nonce.toLowerCase();
  const at = events.findIndex(
    ({ eventName, args }) => eventName === "AuthorizationUsed" && isOurs(args.authorizer, args.nonce),
  );
  const next = at < 0 ? undefined : events[at + 1];
  if (status !== "success" || next?.eventName !== "Transfer") return undefined;
  const isBetween = isAddressEqual(next.args.from, plain(from)) && isAddressEqual(next.args.to, plain(offer.payTo));
  return isBetween && next.args.value >= BigInt(offer.amount);
}
