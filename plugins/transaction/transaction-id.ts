import { base58 } from "@scure/base";
import { Problem, toValueError } from "#plugin";

/** A transaction's hash as sent by a caller. */
export interface NamedTransaction {
  readonly chain: "base" | "ethereum" | "solana";
  readonly tx_hash: string;
}

/**
 * The canonical spelling: `0x` and 64 lower-case hex digits, or the first signature in base58.
 * @throws Problem `invalid-input` for text that cannot be a hash on this chain.
 */
export function toTransactionId({ chain, tx_hash }: NamedTransaction): string {
  if (chain === "solana") {
    if (isSignature(tx_hash)) return tx_hash;
    throw refusal("tx_hash must be a signature of 64 bytes in base58 on solana", tx_hash);
  }
  const digits = HASH.exec(tx_hash)?.[1];
  if (digits) return `0x${digits.toLowerCase()}`;
  throw refusal(`tx_hash must be 64 hex digits, with or without 0x, on ${chain}`, tx_hash);
}

const HASH = /^(?:0x)?([0-9a-f]{64})$/i;
const BASE58_64_BYTES = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

const isSignature = (text: string): boolean => BASE58_64_BYTES.test(text) && base58.decode(text).length === 64;

const refusal = (error: string, tx_hash: string): Problem =>
  new Problem("invalid-input", undefined, { issues: [toValueError(error, tx_hash, "tx_hash")] });
