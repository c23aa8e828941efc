import type { Eip3009 } from "../x402/eip3009.ts";
import type { SettlementState } from "../x402/x402.ts";

/** What is paid back, and to whom. */
export interface RefundTransfer {
  /** The recipient's address. */
  readonly to: string;
  /** Atomic units, decimal text. */
  readonly amount: string;
}

/**
 * The one token in which refunds are made without anybody's hand. A refund is an authorization that the chain takes once
 * and never again (EIP-3009), so that it may be sent as often as there is doubt.
 */
export interface RefundRail {
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  /** @throws Problem that says in a sentence why the treasury cannot make this transfer now. */
  check(transfer: RefundTransfer, signal: AbortSignal): Promise<void>;
  /** Moves nothing. The same job has always the same nonce, and the authorization is good for ever. */
  sign(job: string, transfer: RefundTransfer): Promise<Eip3009>;
  /** What the chain holds of it now. @throws Problem `upstream-failed` when that cannot be read. */
  find(signed: Eip3009, signal: AbortSignal): Promise<SettlementState>;
  /** Brings it to the chain and waits for its block. What it throws says nothing about whether the money has moved. */
  send(signed: Eip3009, signal: AbortSignal): Promise<void>;
}
