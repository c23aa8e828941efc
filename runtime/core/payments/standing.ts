import type { Store } from "../store.ts";
import { type Refusal, toRefusal } from "../x402/read-payment.ts";
import { payerOf } from "./purchase.ts";
import type { PaymentRecord } from "./record.ts";

/**
 * Which payers must pay before the work: those who did not pay for work that was done. Kept in the store for all
 * processes.
 */
export interface Standing {
  /** @param service its id */
  paysFirst(payer: string, service: string): Promise<boolean>;
  /**
   * The payer's settlement was refused after the work was done. Counts for this service alone where the payment may have
   * run out meanwhile. @param ms how long work and settlement took
   */
  noteRefused(payer: string, service: string, ms: number): Promise<void>;
  /** As `noteRefused`, if the work was done, for a payment that was refused after its outcome had been unknown. */
  refusedLate(record: PaymentRecord): Promise<void>;
  /** The payer disconnected after the work had begun. Counts from the third time within an hour. */
  noteLeft(payer: string): Promise<void>;
}

/** How long a payer must pay first. */
const PAYS_FIRST_MS = 24 * 60 * 60_000;
const LEFT_WINDOW_MS = 60 * 60_000;
const MOST_LEFT = 3;
/** A payment on Solana lives for a minute, and has lost some of it before the work begins. */
const SOLANA_MS = 30_000;
const SOLANA = /^solana:/;

/** @param payer in all methods: the verified payer, with its network. */
export function createStanding(store: Store): Standing {
  const distrust = (payer: string): Promise<void> => store.set(`pays-first:${payer}`, 1, PAYS_FIRST_MS, "lazy");
  const isDistrusted = async (payer: string): Promise<boolean> =>
    (await store.get(`pays-first:${payer}`)) !== undefined;
  const noteRefused: Standing["noteRefused"] = (payer, service, ms) =>
    distrust(mayRunOut(payer, ms) ? `${payer}:${service}` : payer);
  return {
    paysFirst: async (payer, service) =>
      (await isDistrusted(payer)) || (SOLANA.test(payer) && isDistrusted(`${payer}:${service}`)),
    noteRefused,
    async refusedLate(record) {
      const { payer, payment, service, output, job } = record;
      if (payer === undefined || output === undefined || job !== undefined) return;
      await noteRefused(payerOf(payer, payment.accepted), service, workMsOf(record));
    },
    async noteLeft(payer) {
      if ((await store.incr(`left:${payer}`, 1, LEFT_WINDOW_MS)) >= MOST_LEFT) await distrust(payer);
    },
  };
}

/** Why a settlement was refused: also that the payment may have run out during its work, where the facilitator is unclear. */
export function toRefused(record: PaymentRecord): [refusal: Refusal, reason: string | undefined] {
  const { receipt, payment } = record;
  const refusal = toRefusal(receipt?.errorReason);
  const isUnclear = refusal === "payment_rejected" && mayRunOut(payment.accepted.network, workMsOf(record));
  const reasons = [isUnclear && RAN_OUT, receipt?.errorReason, receipt?.errorMessage].filter(Boolean);
  return [refusal, reasons.join(": ") || undefined];
}

const RAN_OUT = "it may have run out amid the work; sign a new one";

/** @param payer or only its network */
const mayRunOut = (payer: string, ms: number): boolean => SOLANA.test(payer) && ms >= SOLANA_MS;

function workMsOf({ sold }: PaymentRecord): number {
  const { verified = 0, worked = verified } = sold?.course ?? {};
  return worked - verified;
}
