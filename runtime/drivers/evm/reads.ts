import type { Evm } from "../../api/capabilities.ts";
import type { EvmClient } from "./client.ts";

/** The reads of one EVM chain for plugins. Nothing is cached. */
export function createEvmReads(client: EvmClient): Evm {
  return {
    transaction: (hash, signal) =>
      client.ask(async (chain) => {
        const receipt = await orNothing(chain.getTransactionReceipt({ hash }), "TransactionReceiptNotFoundError");
        if (!receipt) return undefined;
        const { blockHash, blockNumber, status, from, to } = receipt;
        const [transaction, block] = await Promise.all([
          orNothing(chain.getTransaction({ hash }), "TransactionNotFoundError"),
          orNothing(chain.getBlock({ blockHash }), "BlockNotFoundError"),
        ]);
        if (!transaction || !block) return undefined; // A reorganisation removed it between the reads.
        const blockTime = Number(block.timestamp);
        return { hash, from, to, input: transaction.input, status, blockNumber, blockTime };
      }, signal),

    verifyMessage: async (address, message, signature, signal) => {
      const { getAddress, recoverMessageAddress } = await import("viem");
      const signer = await recoverMessageAddress({ message, signature }).catch(() => undefined);
      if (signer === getAddress(address)) return true; // An ordinary account needs no call to the chain.
      return client.ask((chain) => chain.verifyMessage({ address, message, signature }), signal);
    },
  };
}

/** Maps viem's "not found" error to undefined; compared by name, since viem's classes are not loaded here. */
function orNothing<T>(work: Promise<T>, name: string): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (error instanceof Error && error.name === name) return undefined;
    throw error;
  });
}
