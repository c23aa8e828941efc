import type { Hex } from "../../../api/capabilities.ts";
import type { FeeEvent, SpentFor } from "../../../core/books/fees.ts";
import type { Store } from "../../../core/store.ts";

/** One signed transaction for one nonce. */
export interface SignedBytes {
  readonly hash: Hex;
  readonly raw: Hex;
  /** Missing in journals of earlier versions. */
  readonly spentFor?: SpentFor;
}

/**
 * The signed transactions of one account on one chain, written before they are broadcast. One atomic write claims a
 * nonce and stores its bytes: no two processes broadcast for the same nonce, and a crash leaves no claimed nonce empty.
 */
export interface Journal {
  /** Writes attempt number `attempt` (from 0) of the nonce; false when another process has written it. */
  claim(nonce: number, attempt: number, signed: SignedBytes): Promise<boolean>;
  /** All attempts at a nonce, oldest first; empty when it is not claimed. */
  read(nonce: number): Promise<SignedBytes[]>;
  /** Frees a nonce whose only attempt the node refused. */
  release(nonce: number): Promise<void>;
  /** Stores the nonce that is about to be claimed for a call. */
  remember(call: string, nonce: number, hash: Hex): Promise<void>;
  /** The nonce that was claimed for a call; undefined when there is none. */
  recall(call: string): Promise<number | undefined>;
  forget(call: string): Promise<void>;
  /** Enters the fee of a nonce's transaction in the shop's book, once. */
  enterFee(nonce: number, fee: FeeEvent): Promise<void>;
  hasFee(nonce: number): Promise<boolean>;
}

/** Identifies a chain by its id and the hash of its first block. */
export interface ChainName {
  readonly chainId: number;
  readonly genesis: Hex;
}

/** The first attempt of a call. */
interface Remembered {
  readonly nonce: number;
  readonly hash: Hex;
}

/** Much longer than a transaction can stay pending. */
const KEEP_MS = 24 * 60 * 60 * 1000;

/**
 * The journal in the shared store. The chain id alone does not identify a chain, because every sandbox chain starts
 * empty with the same id; the genesis hash differs, except between sandbox chains that start within the same second.
 * @throws Problem `unavailable` when the store cannot be reached.
 */
export function createJournal(store: Store, { chainId, genesis }: ChainName, address: Hex): Journal {
  const place = `${chainId}:${genesis.slice(2, 18)}:${address.slice(2).toLowerCase()}`;
  const keyOf = (nonce: number, attempt: number): string => `evm-tx:${place}:${nonce}:${attempt}`;
  const feeKeyOf = (nonce: number): string => `evm-fee:${place}:${nonce}`;
  const callKeyOf = (call: string): string => `evm-call:${place}:${call}`;
  return {
    claim: (nonce, attempt, { hash, raw, spentFor }) =>
      store.putIfAbsent(keyOf(nonce, attempt), { hash, raw, spentFor }, KEEP_MS),
    async read(nonce) {
      const attempts: SignedBytes[] = [];
      for (;;) {
        const signed = await store.get<SignedBytes>(keyOf(nonce, attempts.length));
        if (!signed) return attempts;
        attempts.push(signed);
      }
    },
    release: (nonce) => store.delete(keyOf(nonce, 0)),
    remember: (call, nonce, hash) => store.set(callKeyOf(call), { nonce, hash }, KEEP_MS),
    async recall(call) {
      const remembered = await store.get<Remembered>(callKeyOf(call));
      if (!remembered) return undefined;
      const { nonce, hash } = remembered;
      // Another call may have claimed the nonce, or the process crashed before the claim.
      return (await store.get<SignedBytes>(keyOf(nonce, 0)))?.hash === hash ? nonce : undefined;
    },
    forget: (call) => store.delete(callKeyOf(call)),
    enterFee: (nonce, fee) => store.enter(fee, { key: feeKeyOf(nonce), value: 1, ttlMs: KEEP_MS, durability: "lazy" }),
    hasFee: async (nonce) => (await store.get(feeKeyOf(nonce))) !== undefined,
  };
}
