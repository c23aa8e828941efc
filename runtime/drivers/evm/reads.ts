import type { PublicClient, TransactionReceipt } from "viem";
import type { Evm, EvmTransaction, Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { EvmClient } from "./client.ts";
import { plain } from "./token-abi.ts";

/** More than any wallet takes to be deployed and to verify: without a limit, a node may work until its deadline. */
const MOST_GAS = 5_000_000n;
/** The ending of a signature that is wrapped with the delegation of its account. */
const ERC8010 = /(?:8010){16}$/;

/** The reads of one EVM chain for plugins. Nothing is cached. */
export function createEvmReads(client: EvmClient): Evm {
  return {
    transaction: (hash, signal) =>
      client.ask((chain) => readTransaction(chain, hash.toLowerCase() as Hex).catch(toMisfit(client)), signal),

    verifyMessage: async (address, message, signature, signal) => {
      const { getAddress, recoverMessageAddress, zeroAddress } = await import("viem");
      if (address === zeroAddress) return false; // The chain recovers it from what nobody signed.
      const signer = await recoverMessageAddress({ message, signature }).catch(() => undefined);
      if (signer === getAddress(address)) return true; // An ordinary account needs no call to the chain.
      // viem passes `gas` on to `eth_call`, although its type lacks it.
      const call = { address: plain(address), message, signature, gas: MOST_GAS };
      return client
        .ask((chain) => chain.verifyMessage(call), signal)
        .catch((error: unknown) => {
          // viem throws at what ends as ERC-8010 says and is not whole; `client.ask` makes a Problem of an outage.
          if (error instanceof Problem || signal.aborted || !ERC8010.test(signature)) throw error;
          return false;
        });
    },
  };
}

/**
 * A mined transaction; undefined when the node knows none. Receipt, transaction and block must be what was asked for,
 * and of one block: a node behind a load balancer, or a reorganization in between, can give parts that are not.
 */
async function readTransaction(chain: PublicClient, hash: Hex): Promise<EvmTransaction | undefined> {
  const receipt = (await readReceipt(chain, hash)) ?? (await readLateReceipt(chain, hash));
  if (!receipt) return undefined;
  const { blockHash, blockNumber, status, from, to } = receipt;
  const [transaction, block] = await Promise.all([chain.getTransaction({ hash }), chain.getBlock({ blockHash })]);
  const isSound =
    [receipt.transactionHash, transaction.hash].every((each) => isOf(hash, each)) &&
    [transaction.blockHash, block.hash].every((each) => isOf(blockHash, each)) &&
    isOf(blockNumber, block.number) &&
    [blockNumber, block.timestamp].every((each) => typeof each === "bigint") &&
    (status === "success" || status === "reverted") &&
    /^0x[0-9a-f]*$/i.test(transaction.input);
  if (!isSound) throw new Error("Receipt, transaction and block do not fit together");
  return { hash, from, to, input: transaction.input, status, blockNumber, blockTime: Number(block.timestamp) };
}

/**
 * The receipt of a transaction that was mined between two requests; undefined when it is not mined.
 * @throws Error when it is, and there is none: nodes delete old receipts before old transactions.
 */
async function readLateReceipt(chain: PublicClient, hash: Hex): Promise<TransactionReceipt | undefined> {
  const transaction = await chain.getTransaction({ hash }).catch((error: unknown) => {
    if (error instanceof Error && error.name === "TransactionNotFoundError") return undefined;
    throw error;
  });
  if (typeof transaction?.blockNumber !== "bigint") return undefined;
  const receipt = await readReceipt(chain, hash);
  if (receipt) return receipt;
  throw new Error("The node has the transaction, and no receipt of it");
}

/** Whether a part of an answer names what it should; nodes need not repeat it. */
const isOf = (wanted: Hex | bigint, named: Hex | bigint | null | undefined): boolean =>
  named == null || String(named).toLowerCase() === String(wanted).toLowerCase();

const toMisfit =
  ({ name }: EvmClient) =>
  (cause: unknown): never => {
    throw new Problem("upstream-failed", `The ${name} chain gave no whole answer about a transaction`, { cause });
  };

/** The receipt of a transaction; undefined when it is not mined. */
export function readReceipt(chain: PublicClient, hash: Hex): Promise<TransactionReceipt | undefined> {
  return chain.getTransactionReceipt({ hash }).catch((error: unknown) => {
    // Compared by name, since viem's classes are not loaded here.
    if (error instanceof Error && error.name === "TransactionReceiptNotFoundError") return undefined;
    throw error;
  });
}
