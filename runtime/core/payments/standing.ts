import type { Store } from "../store.ts";

/**
 * Which payers must pay before they are worked for: those who have had work done and did not pay for it. Kept in the store
 * for all processes.
 */
export interface Standing {
  paysFirst(payer: string): Promise<boolean>;
  /** A payer's settlement was refused after the work was done. */
  noteRefused(payer: string): Promise<void>;
  /** A payer has left after the work had begun. The third time in an hour counts. */
  noteLeft(payer: string): Promise<void>;
}

/** How long a payer pays first. */
const PAYS_FIRST_MS = 24 * 60 * 60_000;
const LEFT_WINDOW_MS = 60 * 60_000;
const MOST_LEFT = 3;

/** @param payer in all methods: the verified payer, with its network. */
export function createStanding(store: Store): Standing {
  const distrust = (payer: string): Promise<void> => store.set(`pays-first:${payer}`, 1, PAYS_FIRST_MS, "lazy");
  return {
    paysFirst: async (payer) => (await store.get(`pays-first:${payer}`)) !== undefined,
    noteRefused: distrust,
    async noteLeft(payer) {
      if ((await store.incr(`left:${payer}`, 1, LEFT_WINDOW_MS)) >= MOST_LEFT) await distrust(payer);
    },
  };
}
