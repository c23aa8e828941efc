import type { Hex } from "../../api/capabilities.ts";
import type { Store } from "../../core/store.ts";

/** One signed transaction for one nonce. */
export interface SignedBytes {
  readonly hash: Hex;
  readonly raw: Hex;
}

/**
 * The signed transactions of one account on one chain, written before they are broadcast. One atomic write claims a
 * nonce and keeps its bytes: no two processes broadcast for the same nonce, and a crash leaves no claimed nonce empty.
 */
export interface Journal {
  /** Writes attempt number `attempt` (from 0) of the nonce; false when another process has written it. */
  claim(nonce: number, attempt: number, signed: SignedBytes): Promise<boolean>;
  /** All attempts at a nonce, oldest first; empty when it is not claimed. */
  read(nonce: number): Promise<SignedBytes[]>;
  /** Frees a nonce whose only attempt the node refused. */
  release(nonce: number): Promise<void>;
}

/** Identifies a chain by its id and the hash of its first block. */
export interface ChainName {
  readonly chainId: number;
  readonly genesis: Hex;
}

/** Much longer than a transaction stays pending. */
const KEEP_MS = 24 * 60 * 60 * 1000;

/**
 * Keeps the journal in the shared store. Id and genesis together identify a chain: a sandbox chain starts empty each time
 * under the same id, and two sandbox chains that start in the same second have the same first block.
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
