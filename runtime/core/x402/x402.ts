/** The nouns of x402 version 2, spelled as the protocol spells them (x402-specification-v2, sections 5 and 7). */

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

/** What is sold, as challenges describe it (section 5.1.2). */
export interface ResourceInfo {
  readonly url: string;
  readonly description: string;
  readonly mimeType: string;
  readonly serviceName: string;
  readonly tags: readonly string[];
  /** Directories show no icon that is not https. */
  readonly iconUrl?: string;
}

/** The 402: the challenge. */
export interface PaymentRequired {
  readonly x402Version: 2;
  readonly error: string;
  readonly resource: ResourceInfo;
  readonly accepts: readonly PaymentRequirements[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** A payment as facilitators take it. */
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

/** What became of a settlement, as a facilitator and PAYMENT-RESPONSE say it (section 5.3). */
export interface SettleResponse {
  readonly success: boolean;
  readonly errorReason?: string;
  readonly errorMessage?: string;
  readonly payer?: string;
  /** The transaction's hash or signature; empty when there is none. */
  readonly transaction: string;
  readonly network: string;
  readonly amount?: string;
  /** What this server says beyond the facilitator: a signed receipt (extension `offer-receipt`). */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** One row of a facilitator's `/supported`. */
export interface SupportedKind {
  readonly x402Version: number;
  readonly scheme: string;
  readonly network: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** What a facilitator says of a settlement. */
export interface SettleAnswer extends SettleResponse {
  /** Which one has said it, where several are asked in turn: a name of `members`. */
  readonly by?: string | undefined;
}

/** Whoever can check a payment and carry it to the chain: over HTTP, or in this process. Drivers implement it. */
export interface Facilitator {
  /** What it takes. @throws Problem `facilitator-unavailable` when it cannot be asked, `unavailable` when nothing can be paid there. */
  supported(signal: AbortSignal): Promise<readonly SupportedKind[]>;
  /** `isValid: false` is a refusal. An outage (timeout, network, 5xx, an answer that makes no sense) throws Problem `facilitator-unavailable`. */
  verify(payment: PaymentPayload, offer: PaymentRequirements, signal: AbortSignal): Promise<VerifyResponse>;
  /**
   * Whatever it throws means that the outcome is unknown: the money may have moved. `isAgain` says that an earlier attempt
   * may have succeeded.
   */
  settle(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    signal: AbortSignal,
    options?: { readonly isAgain?: boolean },
  ): Promise<SettleAnswer>;
  /** Sentences for the operator about what it has lost. @throws Problem `unavailable`. */
  warnings?(): Promise<readonly string[]>;
  /** Calls the listener when what it supports may have changed. */
  watch?(listener: () => void): void;
  /** Where several are asked in turn: each of them. */
  readonly members?: readonly { readonly name: string; readonly facilitator: Facilitator }[];
}

/** What a chain says of one payment, independently of any facilitator. */
export type SettlementState =
  | { readonly state: "settled"; readonly transaction: string }
  /** Not settled, and it still could be. */
  | { readonly state: "open" }
  /** Not settled, and it never can be: cancelled, or expired by the chain's own clock. */
  | { readonly state: "dead" };

/** Reads the fate of a payment from its chain. One for each network. */
export interface SettlementReader {
  /**
   * "settled" only when the chain holds a successful transfer of at least `offer.amount` of `offer.asset` to `offer.payTo`
   * made by exactly this authorization (EIP-3009) or exactly this transaction message (Solana).
   * @throws Problem `upstream-failed` when the chain cannot be read: then nothing is known.
   */
  find(payment: PaymentPayload, offer: PaymentRequirements, signal: AbortSignal): Promise<SettlementState>;
  /** What a payer holds of the offer's asset now, in atomic units. @throws Problem `upstream-failed`. */
  balance(payer: string, offer: PaymentRequirements, signal: AbortSignal): Promise<bigint>;
}

/** How a job was paid, as its refund needs it. */
export interface JobPayment {
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  /** Atomic units, decimal text. */
  readonly amount: string;
  /** The verified EVM address or Solana public key; null when the facilitator did not say. */
  readonly payer: string | null;
  readonly transaction: string;
}
