import type { Store } from "../store.ts";
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
    distrust(SOLANA.test(payer) && ms >= SOLANA_MS ? `${payer}:${service}` : payer);
  return {
    paysFirst: async (payer, service) =>
      (await isDistrusted(payer)) || (SOLANA.test(payer) && isDistrusted(`${payer}:${service}`)),
    noteRefused,
    async refusedLate({ payer, payment, service, output, job, sold }) {
      if (payer === undefined || output === undefined || job !== undefined) return;
      const { verified = 0, worked = verified } = sold?.course ?? {};
      await noteRefused(payerOf(payer, payment.accepted), service, worked - verified);
    },
    async noteLeft(payer) {
      if ((await store.incr(`left:${payer}`, 1, LEFT_WINDOW_MS)) >= MOST_LEFT) await distrust(payer);
    },
  };
}
