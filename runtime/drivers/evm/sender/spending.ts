import type { TransactionReceipt } from "viem";
import type { Clock, Hex, Log } from "../../../api/capabilities.ts";
import { type SpentFor, toFee } from "../../../core/books/fees.ts";
import type { EvmClient } from "../client.ts";
import { findReceipt } from "./chain.ts";
import type { Journal } from "./journal.ts";

/** Enters the fees of the account's transactions in the shop's book. */
export interface Spending {
  /** Enters the fee of a transaction that is in a block. Never rejects: `recover` of a later process retries. */
  enter(nonce: number, receipt: TransactionReceipt, spentFor: SpentFor): Promise<void>;
  /** Enters missing fees of earlier processes, for nonces below the given one. Never rejects. */
  recover(below: number): Promise<void>;
}

export interface SpendingDeps {
  readonly client: EvmClient;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
}

/** How many nonces are read together: far more than are ever in flight. */
const BATCH = 32;

export function createSpending({ client, journal, clock, log }: SpendingDeps): Spending {
  const network = `eip155:${client.chainId}`;
  const warn = (error: unknown): void => log.warn("evm.fee-unentered", { chain: client.name, error });

  async function enter(nonce: number, receipt: TransactionReceipt, spentFor: SpentFor): Promise<void> {
    const { transactionHash: transaction, status } = receipt;
    const cost = feeOf(receipt);
    if (cost === undefined) return warn(new Error(`The receipt of ${transaction} does not name the price of its gas`));
    const spent = { transaction, network, at: clock.now(), cost, isReverted: status === "reverted" };
    await journal.enterFee(nonce, toFee({ ...spent, ...spentFor })).catch(warn);
  }

  /** @returns whether the nonce's fee was missing and its transaction is in a block */
  async function recoverOne(nonce: number): Promise<boolean> {
    if (await journal.hasFee(nonce)) return false;
    const attempts = await journal.read(nonce);
    const hashes = attempts.map(({ hash }): Hex => hash).reverse();
    const receipt = hashes.length > 0 ? await findReceipt(client, hashes) : undefined;
    if (receipt) await enter(nonce, receipt, attempts[0]?.spentFor ?? { purpose: "other" });
    return receipt !== undefined;
  }

  return {
    enter,
    async recover(below) {
      try {
        for (let last = below; last > 0; last -= BATCH) {
          const nonces = Array.from({ length: Math.min(BATCH, last) }, (_, before) => last - 1 - before);
          if (!(await Promise.all(nonces.map(recoverOne))).includes(true)) return;
        }
      } catch (error) {
        warn(error);
      }
    },
  };
}

/** The fee in wei: gas, and the data fee of OP Stack rollups (`l1Fee`). Undefined where the receipt lacks a part. */
export function feeOf(receipt: TransactionReceipt): bigint | undefined {
  const { l1Fee } = receipt as { readonly l1Fee?: bigint | string | null }; // viem does not convert unknown members.
  try {
    return receipt.gasUsed * receipt.effectiveGasPrice + BigInt(l1Fee ?? 0);
  } catch {
    return undefined;
  }
}
