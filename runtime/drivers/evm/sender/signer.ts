import type { LocalAccount, TransactionReceipt } from "viem";
import type { Hex } from "../../../api/capabilities.ts";
import type { SpentFor } from "../../../core/books/fees.ts";
import type { Fees } from "./fees.ts";
import type { SignedBytes } from "./journal.ts";

/** A transaction without its nonce and fees. */
export interface Payload {
  readonly to: Hex;
  readonly data: Hex;
  /** Wei. */
  readonly value: bigint;
  readonly gas: bigint;
  /** The reason for the transaction, for the book. */
  readonly spentFor: SpentFor;
}

/** A payload signed with a nonce and fees. */
export interface SignedAttempt extends SignedBytes {
  readonly payload: Payload;
  readonly fees: Fees;
}

/** A transaction in a block. `reverted`: it used gas and changed nothing. */
export interface EvmInclusion extends Pick<TransactionReceipt, "blockNumber" | "status" | "logs"> {
  readonly hash: Hex;
  /** The fee: gas, and the data fee on rollups that report it (OP Stack). 0 where the receipt does not name it. */
  readonly feeWei: bigint;
  /** Unix milliseconds of the first broadcast. */
  readonly sentAt: number;
}

/** Signs for one account on one chain. */
export interface Signer {
  readonly address: Hex;
  sign(payload: Payload, nonce: number, fees: Fees): Promise<SignedAttempt>;
  /** Parses bytes that `sign` has made. */
  read(signed: SignedBytes): SignedAttempt;
  /** A transfer of 0 from the account to itself. */
  nothing(): Payload;
}

/** Signs EIP-1559 transactions (type 2) for one chain. */
export async function createSigner(account: LocalAccount, chainId: number): Promise<Signer> {
  const { keccak256, parseTransaction } = await import("viem");
  const { address } = account;
  return {
    address,
    async sign(payload, nonce, fees) {
      const { spentFor, ...terms } = payload;
      const raw = await account.signTransaction({ type: "eip1559", chainId, nonce, ...terms, ...fees });
      return { hash: keccak256(raw), raw, spentFor, payload, fees };
    },
    read({ hash, raw, spentFor = { purpose: "other" } }) {
      const signed = parseTransaction(raw);
      const { to, data = "0x", value = 0n, gas = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = signed;
      const payload = { to: to!, data, value, gas, spentFor };
      return { hash, raw, payload, fees: { maxFeePerGas, maxPriorityFeePerGas } };
    },
    nothing: () => ({ to: address, data: "0x", value: 0n, gas: 21_000n, spentFor: { purpose: "other" } }),
  };
}
