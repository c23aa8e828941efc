import type { TransactionReceipt } from "viem";
import type { Hex } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import type { EvmClient } from "../client.ts";
import { readReceipt } from "../reads.ts";
import type { Market } from "./fees.ts";

/** The state of one account and of the fee market at one block. */
export interface ChainView extends Market {
  /** The number of the latest block. */
  readonly block: bigint;
  /** The account's transaction count in the latest block: the first nonce that is not mined. */
  readonly mined: number;
  /** The account's pending transaction count: the first nonce that the node has no transaction for. */
  readonly pooled: number;
}

/** Reads the view. @throws Problem `upstream-failed`. */
export function readView(client: EvmClient, address: Hex): Promise<ChainView> {
  return client.ask(async (chain) => {
    const [block, mined, pooled, tip] = await Promise.all([
      chain.getBlock({ blockTag: "latest" }),
      chain.getTransactionCount({ address, blockTag: "latest" }),
      chain.getTransactionCount({ address, blockTag: "pending" }),
      chain.estimateMaxPriorityFeePerGas(),
    ]);
    return { block: block.number, baseFee: block.baseFeePerGas ?? 0n, mined, pooled: Math.max(mined, pooled), tip };
  });
}

/** The receipt of the first of these hashes that is in the chain. */
export function findReceipt(client: EvmClient, hashes: readonly Hex[]): Promise<TransactionReceipt | undefined> {
  return client.ask(async (chain) => {
    for (const hash of hashes) {
      const receipt = await readReceipt(chain, hash);
      if (receipt) return receipt;
    }
    return undefined;
  });
}

/** Broadcasts signed bytes. What the node does not take now it may take later. @throws Problem when it never will. */
export async function broadcast(client: EvmClient, serializedTransaction: Hex): Promise<void> {
  try {
    await client.ask((chain) => chain.sendRawTransaction({ serializedTransaction }));
  } catch (error) {
    if (!(error instanceof Problem)) await judge(client, error);
  }
}

/** Refusals that are permanent. */
const HOPELESS = new Set([
  "ExecutionRevertedError",
  "IntrinsicGasTooHighError",
  "IntrinsicGasTooLowError",
  "TipAboveFeeCapError",
  "TransactionTypeNotSupportedError",
]);

/** Throws where a refusal is permanent. Nodes report refusals only as text; viem recognizes the common ones. */
async function judge(client: EvmClient, error: unknown): Promise<void> {
  const { BaseError } = await import("viem");
  const { getNodeError } = await import("viem/utils");
  if (!(error instanceof BaseError)) throw error;
  const { name } = getNodeError(error, {});
  if (name === "InsufficientFundsError") throw outOfFunds(client, error);
  if (HOPELESS.has(name))
    throw new Problem("upstream-failed", `The ${client.name} chain refused a transaction`, { cause: error });
}

/** The Problem of gas prices above the cap: they may fall again. */
export const tooDear = ({ name }: EvmClient): Problem =>
  new Problem("unavailable", `Transactions on ${name} cost more now than this service may pay`);

/** By then higher fees were tried as well, and even a slow chain has had several blocks, one every twelve seconds. */
const STALLED_MS = 60_000;

/**
 * Refuses to send behind a transaction that waits for long: one of this account's own, or of another program that has
 * its key. @throws Problem `unavailable`
 */
export function checkLine({ name }: EvmClient, { waitingMs }: { waitingMs(): number }): void {
  if (waitingMs() < STALLED_MS) return;
  throw new Problem("unavailable", `No block on ${name} takes the treasury's transactions now`);
}

/** The Problem of an empty treasury account, which the operator must fill. */
const outOfFunds = (client: EvmClient, cause: unknown): Problem =>
  new Problem("unavailable", `The service cannot pay for a transaction on ${client.name} now`, { cause });

/** What a transaction's gas depends on. */
interface GasCall {
  readonly to: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
}

/** The gas of a call, with a margin of 20 %. @throws Problem `upstream-failed` or `unavailable`; the signal's reason. */
export async function estimate(client: EvmClient, account: Hex, call: GasCall, signal: AbortSignal): Promise<bigint> {
  const { to, data = "0x", value = 0n } = call;
  try {
    const gas = await client.ask((chain) => chain.estimateGas({ account, to, data, value }), signal);
    return (gas * 6n) / 5n;
  } catch (error) {
    if (error instanceof Problem || signal.aborted) throw error;
    const { InsufficientFundsError } = await import("viem");
    throw error instanceof Error && error.cause instanceof InsufficientFundsError
      ? outOfFunds(client, error)
      : new Problem("upstream-failed", `The ${client.name} chain refused a transaction`, { cause: error });
  }
}
