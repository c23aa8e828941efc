import type { Door } from "../books/events.ts";
import type { CallSteps } from "../call.ts";
import { isObject } from "../json.ts";
import { readEip3009 } from "../x402/eip3009.ts";
import type { JobPayment, PaymentPayload, SettleResponse } from "../x402/x402.ts";

/** How long unresolved payments are kept, and results that nobody has fetched. */
export const UNATTENDED_MS = 24 * 60 * 60_000;
/** How long owed work is remembered until it is delivered or refunded, and a job until it begins, also while no process runs. */
export const OWED_MS = 30 * 24 * 60 * 60_000;

/**
 * The record of one payment, written before its settlement is tried. The result is stored with it, so that the payer
 * gets what was paid for after any crash.
 */
export interface PaymentRecord {
  /** `settling`: sent, outcome unknown. `rejected`: refused, nothing moved. `settled`: the money has moved. */
  readonly state: "settling" | "rejected" | "settled";
  /** Digest of the payment's fingerprint, service and input: only the identical call gets the stored answer. */
  readonly request: string;
  /** Digest of service and input as it came: the identical call stays so when the service's schema changes. */
  readonly asked?: string;
  /** Digest of all signed data and the signature: compared before any input is hashed. */
  readonly fingerprint: string;
  /** The service's id. */
  readonly service: string;
  /** The payload that is settled, with its offer in `accepted`. */
  readonly payment: PaymentPayload;
  /** The answer; absent while `owed` is set. */
  readonly output?: unknown;
  /** Set from the settlement until the delivery, where the money moves before the work. */
  readonly owed?: Owed;
  /** Unix seconds; undefined where only the chain limits the lifetime. */
  readonly validBefore?: number;
  /** The facilitator's newest answer. */
  readonly receipt?: SettleResponse;
  /** The facilitator that reported the settlement, where the chain had not shown it yet and the rail has several. */
  readonly reportedBy?: string;
  /** Whether the chain itself has shown this state, so that nothing is left to look up. */
  readonly isFinal?: boolean;
  /** When the settlement became known: Unix milliseconds. */
  readonly settledAt?: number;
  /** The verified payer. */
  readonly payer?: string;
  /** The payer that the facilitator reports, where that is another one. */
  readonly reported?: string;
  /** The job that begins once the payment is settled. */
  readonly job?: string;
  /** Until when a repeated payment gets the answer: Unix milliseconds. */
  readonly repeatUntil?: number;
  /** The exchange between peers that the call named when it was paid; one named later is ignored. */
  readonly exchange?: string;
  /** The terms of the sale, for the book. */
  readonly sold?: SoldAs;
}

/** The terms under which a call was sold. */
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

/** Work that is paid for but not delivered. */
export interface Owed {
  /** A UUID that identifies the work in its steps and its refund. */
  readonly id: string;
  readonly input: unknown;
  /** The number of failed runs. */
  readonly failures: number;
  /** A run that must not be repeated has begun, and may have taken effect. */
  readonly isBegun?: true;
  /** Why the newest run failed: a sentence. */
  readonly reason?: string;
  /** The refund was opened, and nothing will be delivered. */
  readonly isPaidBack?: true;
}

/** Whether a record is one of a payment as this version writes them. */
export const isPaymentRecord = (record: unknown): record is PaymentRecord =>
  isObject(record) &&
  ["settling", "rejected", "settled"].includes(record.state as string) &&
  isObject(record.payment) &&
  isObject(record.payment.accepted);

/** Whether a settled payment still awaits its work. */
export const isOwed = ({ state, owed }: PaymentRecord): boolean =>
  state === "settled" && owed !== undefined && !owed.isPaidBack;

/** Whether the chain has shown that it is paid. */
export const isSeenPaid = ({ state, isFinal }: PaymentRecord): boolean => state === "settled" && isFinal === true;

/** Whether nothing is left to be confirmed or delivered. */
export const isDone = (record: PaymentRecord): boolean =>
  record.state !== "settling" && record.isFinal === true && !isOwed(record);

/** How a settled payment was paid. The payer is the signer, whatever the facilitator reports. */
export function toJobPayment({ payment, receipt, payer }: PaymentRecord): JobPayment {
  const { network, asset, amount } = payment.accepted;
  const signed = readEip3009(payment.payload);
  return {
    network,
    asset,
    amount,
    payer: signed?.authorization.from ?? payer ?? receipt?.payer ?? null,
    transaction: receipt?.transaction ?? "",
    ...(signed && { signed }),
  };
}
