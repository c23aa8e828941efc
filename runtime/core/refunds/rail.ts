import type { Eip3009 } from "../x402/eip3009.ts";
import type { JobPayment, SettlementState } from "../x402/x402.ts";

/** The recipient and the amount of a refund. */
export interface RefundTransfer {
  /** The recipient's address. */
  readonly to: string;
  /** Atomic units, decimal text. */
  readonly amount: string;
}

/**
 * The token in which refunds are made automatically. A refund is an authorization that the chain accepts only once
 * (EIP-3009), so it can be sent again whenever its outcome is in doubt.
 */
export interface RefundRail {
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  /**
   * @param signer the account that has signed the transfer, perhaps under an earlier key; the treasury's by default
   * @throws Problem with a sentence that says why this transfer cannot be made now.
   */
  check(transfer: RefundTransfer, signal: AbortSignal, signer?: string): Promise<void>;
  /**
   * Whether the chain holds the payment itself, which a reorganisation may have taken off it: its transfer, since a payer
   * can cancel or use up the authorization afterwards. True where the authorization is not known.
   * @throws Problem `upstream-failed` when that cannot be read.
   */
  holds(payment: JobPayment, signal: AbortSignal): Promise<boolean>;
  /** Signs a transfer; moves nothing. A job always has the same nonce, and the authorization never expires. */
  sign(job: string, transfer: RefundTransfer): Promise<Eip3009>;
  /**
   * The transfer's state on the chain. @throws Problem `upstream-failed` when that cannot be read.
   * @param held the transaction that had it, where to look first: a search may not reach back to it any more
   */
  find(signed: Eip3009, signal: AbortSignal, held?: string): Promise<SettlementState>;
  /** Submits the transfer and waits for its block. After an error, the money may have moved or not. */
  send(signed: Eip3009, signal: AbortSignal): Promise<void>;
}
