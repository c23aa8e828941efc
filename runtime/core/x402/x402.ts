/** The types of x402 version 2, with the protocol's names (x402-specification-v2, sections 5 and 7). */

import type { Eip3009 } from "./eip3009.ts";

/** One offer: what must be paid, on which network, to whom. */
export interface PaymentRequirements {
  readonly scheme: string;
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  /** Atomic units of the asset, decimal text. */
  readonly amount: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** The description of what is sold (section 5.1.2). */
export interface ResourceInfo {
  readonly url: string;
  readonly description: string;
  readonly mimeType: string;
  readonly serviceName: string;
  readonly tags: readonly string[];
  /** Must be https: directories ignore other icons. */
  readonly iconUrl?: string;
}

/** The challenge: the body of a 402. */
export interface PaymentRequired {
  readonly x402Version: 2;
  readonly error: string;
  readonly resource: ResourceInfo;
  readonly accepts: readonly PaymentRequirements[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** A payment, in the form that facilitators expect. */
export interface PaymentPayload {
  readonly x402Version: 2;
  readonly resource?: { readonly url: string };
  readonly accepted: PaymentRequirements;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** A facilitator's verdict on a payment, before anything moves (section 5.4). */
export interface VerifyResponse {
  readonly isValid: boolean;
  readonly invalidReason?: string;
  readonly invalidMessage?: string;
  readonly payer?: string;
}

/** The outcome of a settlement, from a facilitator and in PAYMENT-RESPONSE (section 5.3). */
export interface SettleResponse {
  readonly success: boolean;
  readonly errorReason?: string;
  readonly errorMessage?: string;
  readonly payer?: string;
  /** The transaction's hash or signature; empty when there is none. */
  readonly transaction: string;
  readonly network: string;
  readonly amount?: string;
  /** Added by this server: a signed receipt (extension `offer-receipt`). */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** One row of a facilitator's `/supported`. */
export interface SupportedKind {
  readonly x402Version: number;
  readonly scheme: string;
  readonly network: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** A facilitator's answer to a settlement. */
export interface SettleAnswer extends SettleResponse {
  /** The facilitator that answered, where several are asked in turn: a name of `members`. */
  readonly by?: string | undefined;
}

/** Verifies and settles payments, over HTTP or in this process. Implemented by drivers. */
export interface Facilitator {
  /**
   * The kinds of payments that it accepts. @throws Problem `facilitator-unavailable` when it cannot be asked,
   * `unavailable` when no payment is possible there.
   */
  supported(signal: AbortSignal): Promise<readonly SupportedKind[]>;
  /**
   * `isValid: false` is a refusal. @throws Problem `facilitator-unavailable` for an outage: a timeout, a network error,
   * a status 5xx or a malformed answer.
   */
  verify(payment: PaymentPayload, offer: PaymentRequirements, signal: AbortSignal): Promise<VerifyResponse>;
  /**
   * Every error means that the outcome is unknown: the money may have moved. `isAgain`: an earlier attempt may have
   * succeeded.
   */
  settle(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    signal: AbortSignal,
    options?: { readonly isAgain?: boolean },
  ): Promise<SettleAnswer>;
  /** Sentences for the operator about gas that it has lost. @throws Problem `unavailable`. */
  warnings?(): Promise<readonly string[]>;
  /** Calls the listener when the result of `supported` may have changed. */
  watch?(listener: () => void): void;
  /** The facilitators that are asked in turn, where there are several. */
  readonly members?: readonly { readonly name: string; readonly facilitator: Facilitator }[];
}

/** The state of one payment on its chain, independent of any facilitator. */
export type SettlementState =
  | { readonly state: "settled"; readonly transaction: string }
  /** Not settled, but it can still be. */
  | { readonly state: "open" }
  /** Not settled, and it can never be: cancelled, or expired by the chain's clock. */
  | { readonly state: "dead" };

/** Reads the states of payments from their chain. One for each network. */
export interface SettlementReader {
  /**
   * "settled" only when the chain holds a successful transfer of at least `offer.amount` of `offer.asset` to `offer.payTo`
   * made by exactly this authorization (EIP-3009) or exactly this transaction message (Solana).
   * @param reported the transaction that a facilitator has named, where to look first
   * @throws Problem `upstream-failed` when the chain cannot be read: then nothing is known.
   */
  find(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    signal: AbortSignal,
    reported?: string,
  ): Promise<SettlementState>;
  /**
   * A balance of the offer's asset, in atomic units. @param holder a wallet; on Solana also a token account
   * @param signer who spends it: of another's token account, a delegate has what its owner has approved, and no more
   * @throws Problem `upstream-failed`.
   */
  balance(holder: string, offer: PaymentRequirements, signal: AbortSignal, signer?: string): Promise<bigint>;
  /** @throws Problem when the chain cannot be read. */
  ping(signal: AbortSignal): Promise<unknown>;
}

/** How a job was paid for: the data that its refund needs. */
export interface JobPayment extends Pick<PaymentRequirements, "network" | "asset" | "amount"> {
  /** The verified EVM address or Solana public key; null when unknown. */
  readonly payer: string | null;
  readonly transaction: string;
  /** The payer's authorization; absent on other rails and in older records. */
  readonly signed?: Eip3009;
}
