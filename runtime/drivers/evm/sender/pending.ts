import type { Hex } from "../../../api/capabilities.ts";
import type { EvmInclusion, Payload, SignedAttempt } from "./signer.ts";

/** A transaction with a claimed nonce that is not final yet. Its payload never changes; its fees may rise. */
export interface PendingTransaction {
  readonly nonce: number;
  readonly payload: Payload;
  /** Every signed version, newest last. */
  readonly attempts: SignedAttempt[];
  /** Unix milliseconds of the first broadcast. */
  readonly sentAt: number;
  /** Resolves when included with enough confirmations; rejects when it can never be included. */
  readonly outcome: PromiseWithResolvers<EvmInclusion>;
  broadcastAt: number;
  signedAt: number;
  /** The latest block at the first look since it was signed. */
  signedIn: bigint | undefined;
  /** Unix milliseconds of the first time it was seen with enough confirmations. */
  includedAt: number | undefined;
  /** The version that was included: callers have been told its hash. */
  included: SignedAttempt | undefined;
  /** Unix milliseconds since when the nonce is used although none of its hashes is on the chain. */
  missingSince: number | undefined;
}

/** Its version with the highest fees. */
export const newest = (attempts: readonly SignedAttempt[]): SignedAttempt => attempts[attempts.length - 1]!;
/** The newest first. */
export const hashesOf = ({ attempts }: PendingTransaction): Hex[] => attempts.map(({ hash }) => hash).reverse();
