import type { TransactionReceipt } from "viem";
import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { EvmClient } from "./client.ts";
import type { Market } from "./sender-fees.ts";

/** What the chain says of one account and of its fees, at one moment. */
export interface ChainView extends Market {
  /** The number of the latest block. */
  readonly block: bigint;
  /** The first nonce that is not in a block. */
  readonly mined: number;
  /** The first nonce that the node has no transaction for. */
  readonly pooled: number;
}

/** Reads the view. @throws Problem `upstream-failed`. */
export function readView(client: EvmClient, address: Hex, signal?: AbortSignal): Promise<ChainView> {
  return client.ask(async (chain) => {
    const [block, mined, pooled, tip] = await Promise.all([
      chain.getBlock({ blockTag: "latest" }),
      chain.getTransactionCount({ address, blockTag: "latest" }),
      chain.getTransactionCount({ address, blockTag: "pending" }),
      chain.estimateMaxPriorityFeePerGas(),
    ]);
    return { block: block.number, baseFee: block.baseFeePerGas ?? 0n, mined, pooled: Math.max(mined, pooled), tip };
  }, signal);
}

/** The receipt of whichever of the hashes is in the chain now, if any is. */
export function findReceipt(client: EvmClient, hashes: readonly Hex[]): Promise<TransactionReceipt | undefined> {
  return client.ask(async (chain) => {
    for (const hash of hashes) {
      const receipt = await chain.getTransactionReceipt({ hash }).catch((error: unknown) => {
        if (error instanceof Error && error.name === "TransactionReceiptNotFoundError") return undefined;
        throw error;
      });
      if (receipt) return receipt;
    }
    return undefined;
  });
}

/** Hands signed bytes to the node. "unclear" when they may have gone out, or may yet. @throws Problem when they never can. */
export async function broadcast(client: EvmClient, serializedTransaction: Hex): Promise<"accepted" | "unclear"> {
  try {
    await client.ask((chain) => chain.sendRawTransaction({ serializedTransaction }));
    return "accepted";
  } catch (error) {
    if (error instanceof Problem) return "unclear";
    return judge(client, error);
  }
}

/** The node has the transaction: whoever delivered it. */
const KNOWN = /already (known|imported|exists|in (the )?mempool)|known transaction/i;
/** Refusals that no later moment will take back. */
const HOPELESS = new Set([
  "ExecutionRevertedError",
  "IntrinsicGasTooHighError",
  "IntrinsicGasTooLowError",
  "TipAboveFeeCapError",
  "TransactionTypeNotSupportedError",
]);

/** Nodes name their refusals in words alone; viem knows the words of the usual ones. */
async function judge(client: EvmClient, error: unknown): Promise<"accepted" | "unclear"> {
  const { BaseError } = await import("viem");
  const { getNodeError } = await import("viem/utils");
  if (!(error instanceof BaseError)) throw error;
  if (KNOWN.test(error.details)) return "accepted";
  const { name } = getNodeError(error, {});
  if (name === "InsufficientFundsError") throw outOfFunds(client, error);
  if (HOPELESS.has(name))
    throw new Problem("upstream-failed", `The ${client.name} chain refused a transaction`, { cause: error });
  return "unclear";
}

/** The treasury's account is empty: for the operator to mend. */
export const outOfFunds = (client: EvmClient, cause: unknown): Problem =>
  new Problem("unavailable", `The service cannot pay for a transaction on ${client.name} now`, { cause });
