import { createHash, randomBytes } from "node:crypto";
import { base58 } from "@scure/base";
import type { Clock } from "../../api/capabilities.ts";

/** The slots and blockhashes of a Solana chain. */
export interface SvmSlots {
  /** The current slot, which is also the block height. */
  current(): number;
  /** Unix seconds. */
  timeOf(slot: number): number;
  latestBlockhash(): { readonly blockhash: string; readonly lastValidBlockHeight: number };
  isValid(blockhash: string): boolean;
  /** Skips enough slots to invalidate every blockhash that was issued. */
  expire(): void;
}

/** As on mainnet, a slot lasts 400 ms and a blockhash 150 slots. Slots are computed from the clock, without a timer. */
export function createSlots(clock: Clock): SvmSlots {
  const seed = randomBytes(32);
  const start = clock.now();
  const slotOf = new Map<string, number>();
  let skipped = 0;
  const current = (): number => FIRST_SLOT + Math.floor((clock.now() - start) / SLOT_MS) + skipped;
  const forgetOld = (slot: number): void => {
    for (const [blockhash, issued] of slotOf) if (issued + LIFETIME < slot) slotOf.delete(blockhash);
  };
  return {
    current,
    timeOf: (slot) => Math.floor((clock.now() - (current() - slot) * SLOT_MS) / 1000),
    latestBlockhash: () => {
      const slot = current();
      forgetOld(slot);
      const blockhash = base58.encode(createHash("sha256").update(seed).update(String(slot)).digest());
      slotOf.set(blockhash, slot);
      return { blockhash, lastValidBlockHeight: slot + LIFETIME };
    },
    isValid: (blockhash) => (slotOf.get(blockhash) ?? Number.NEGATIVE_INFINITY) + LIFETIME >= current(),
    expire: () => {
      skipped += LIFETIME + 1;
    },
  };
}

const SLOT_MS = 400;
const LIFETIME = 150;
/** About mainnet's current slot, so that no code depends on small slot numbers. */
const FIRST_SLOT = 400_000_000;
