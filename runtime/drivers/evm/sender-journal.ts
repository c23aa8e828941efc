import type { Hex } from "../../api/capabilities.ts";
import type { Store } from "../../core/store.ts";

/** A signed transaction: one attempt at one nonce. */
export interface SignedBytes {
  readonly hash: Hex;
  readonly raw: Hex;
}

/**
 * The signed transactions of one account on one chain, written before they are broadcast. Claiming a nonce and keeping
 * its bytes is one atomic write: no two processes ever sign for the same nonce, and none that was claimed is left empty
 * by a crash.
 */
export interface Journal {
  /** Takes the place of attempt `attempt` (from 0) at the nonce; false when it is taken. */
  claim(nonce: number, attempt: number, signed: SignedBytes): Promise<boolean>;
  /** All attempts at a nonce, the first one first; empty when nobody claimed it. */
  read(nonce: number): Promise<SignedBytes[]>;
  /** Gives back a nonce whose only attempt was refused by the chain. */
  release(nonce: number): Promise<void>;
}

/** One chain, and no other: its id, and the hash of its first block. */
export interface ChainName {
  readonly chainId: number;
  readonly genesis: Hex;
}

/** A nonce is decided long before; afterwards its record only takes room. */
const KEEP_MS = 24 * 60 * 60 * 1000;

/**
 * Keeps the journal in the shared store. A sandbox's chain begins anew with every start under the same chain id, and two
 * sandbox chains that start in the same second have the same first block: only id and genesis together name a chain.
 * @throws Problem `unavailable` when the store cannot be reached.
 */
export function createJournal(store: Store, { chainId, genesis }: ChainName, address: Hex): Journal {
  const keyOf = (nonce: number, attempt: number): string =>
    `evm-tx:${chainId}:${genesis.slice(2, 18)}:${address.slice(2).toLowerCase()}:${nonce}:${attempt}`;
  return {
    claim: (nonce, attempt, { hash, raw }) => store.putIfAbsent(keyOf(nonce, attempt), { hash, raw }, KEEP_MS),
    async read(nonce) {
      const attempts: SignedBytes[] = [];
      for (;;) {
        const signed = await store.get<SignedBytes>(keyOf(nonce, attempts.length));
        if (!signed) return attempts;
        attempts.push(signed);
      }
    },
    release: (nonce) => store.delete(keyOf(nonce, 0)),
  };
}
