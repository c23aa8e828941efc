import type { Door } from "../books/events.ts";
import type { CallSteps } from "../call.ts";
import type { PaymentPayload, SettleResponse } from "../x402/x402.ts";

/**
 * What is remembered of one payment, written before its settlement is tried. The result is kept with it, so that whoever
 * paid gets what was paid for, whatever crashes in between.
 */
export interface PaymentRecord {
  /** `settling`: sent, outcome not known. `rejected`: refused and nothing moved. `settled`: the money is ours. */
  readonly state: "settling" | "rejected" | "settled";
  /** Digest of the payment's fingerprint, service and input: only exactly the same call may have the stored answer. */
  readonly request: string;
  /** Digest of everything signed and the signature: compared before any input is hashed. */
  readonly fingerprint: string;
  /** The service's id. */
  readonly service: string;
  /** As it is settled: with the offer that it was made for in `accepted`. */
  readonly payment: PaymentPayload;
  /** The answer; left out while `owed` is set. */
  readonly output?: unknown;
  /** Set where the money moves before the work, until the work is delivered. */
  readonly owed?: Owed;
  /** Unix seconds; undefined where the chain alone limits the time. */
  readonly validBefore?: number;
  /** The facilitator's newest answer. */
  readonly receipt?: SettleResponse;
  /** Which facilitator has reported the settlement, where the chain had not shown it yet and a rail has several. */
  readonly reportedBy?: string;
  /** Whether the chain itself has shown this state: nothing is left to be looked up. */
  readonly isFinal?: boolean;
  /** When the settlement was known: Unix milliseconds. */
  readonly settledAt?: number;
  /** The verified payer. */
  readonly payer?: string;
  /** The job that begins once the payment is settled. */
  readonly job?: string;
  /** Until when a repetition of the payment gets the answer: Unix milliseconds. */
  readonly repeatUntil?: number;
  /** The exchange between peers that the call named when it was paid; one named later does not count. */
  readonly exchange?: string;
  /** How it was sold, for the book. */
  readonly sold?: SoldAs;
}

/** What a call says of its sale. */
export interface SoldAs {
  readonly door: Door;
  readonly requestId: string;
  /** The rail's id, and the decimals of its token. */
  readonly rail: string;
  readonly decimals: number;
  /** US dollars, decimal text. */
  readonly usd: string;
  /** The digest of the set that sold it. */
  readonly set?: string;
  readonly course?: CallSteps;
}

/** Work that is paid for and not delivered. */
export interface Owed {
  /** Names the work in its steps and in its refund: a UUID. */
  readonly id: string;
  readonly input: unknown;
  /** How many runs have failed. */
  readonly failures: number;
  /** Why the newest run failed: a sentence. */
  readonly reason?: string;
  /** Nothing is delivered any more: the refund was opened. */
  readonly isPaidBack?: true;
}
