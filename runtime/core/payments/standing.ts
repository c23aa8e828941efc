import type { Store } from "../store.ts";
import { payerOf } from "./purchase.ts";
import type { PaymentRecord } from "./record.ts";

/**
 * Which payers must pay before the work: those who did not pay for work that was done. Kept in the store for all
 * processes.
 */
export interface Standing {
  paysFirst(payer: string): Promise<boolean>;
  /** The payer's settlement was refused after the work was done. */
  noteRefused(payer: string): Promise<void>;
  /** As `noteRefused`, if the work was done, for a payment that was refused after its outcome had been unknown. */
  refusedLate(record: PaymentRecord): Promise<void>;
  /** The payer disconnected after the work had begun. Counts from the third time within an hour. */
  noteLeft(payer: string): Promise<void>;
}

/** How long a payer must pay first. */
const PAYS_FIRST_MS = 24 * 60 * 60_000;
const LEFT_WINDOW_MS = 60 * 60_000;
const MOST_LEFT = 3;

/** @param payer in all methods: the verified payer, with its network. */
export function createStanding(store: Store): Standing {
  const distrust = (payer: string): Promise<void> => store.set(`pays-first:${payer}`, 1, PAYS_FIRST_MS, "lazy");
  return {
    paysFirst: async (payer) => (await store.get(`pays-first:${payer}`)) !== undefined,
    noteRefused: distrust,
    async refusedLate({ payer, payment, output, job }) {
      if (payer === undefined || output === undefined || job !== undefined) return;
      await distrust(payerOf(payer, payment.accepted));
    },
    async noteLeft(payer) {
      if ((await store.incr(`left:${payer}`, 1, LEFT_WINDOW_MS)) >= MOST_LEFT) await distrust(payer);
    },
  };
}
