import {
  type ConfirmedSignatureInfo,
  type Connection,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { expect } from "chai";

export const NOW = 1_800_000_000;
export const HOUR = 60 * 60;
export const SLOT = 400_000_000;
const MEMO = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
export const MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
export const SELLER = Keypair.generate().publicKey.toBase58();
export const never = new AbortController().signal;

/** A transaction with this memo, whose fee somebody else pays unless it is the payer's own. */
export function toTransaction(payer: PublicKey, memo?: string, isOwn = false): VersionedTransaction {
  const data = Buffer.from(memo ?? "no memo");
  const programId = memo === undefined ? Keypair.generate().publicKey : MEMO;
  const keys = [{ pubkey: payer, isSigner: true, isWritable: true }];
  const draft = new TransactionMessage({
    payerKey: isOwn ? payer : Keypair.generate().publicKey,
    recentBlockhash: Keypair.generate().publicKey.toBase58(),
    instructions: [new TransactionInstruction({ programId, keys, data })],
  });
  return new VersionedTransaction(draft.compileToV0Message());
}

/** A node that holds these transactions of a payer, the newest first. */
export interface Listed {
  readonly transaction: VersionedTransaction;
  readonly memo?: string | null;
  readonly slot?: number;
  readonly isLost?: boolean;
  readonly result?: object;
}

export function openNode(payer: PublicKey, listed: readonly Listed[]) {
  const state = {
    lists: [] as (string | undefined)[],
    fetched: 0,
    atOnce: 0,
    most: 0,
    isValid: [true, true],
    blockTime: Number.MAX_SAFE_INTEGER as number | null,
    slot: SLOT,
    /** What is at every address. */
    account: null as { readonly owner: PublicKey; readonly data: Buffer } | null,
  };
  const node = {
    getAccountInfo: async () => state.account,
    async getSignaturesForAddress(
      address: PublicKey,
      { limit, before, minContextSlot }: { limit: number; before?: string; minContextSlot: number },
    ) {
      expect(minContextSlot).to.equal(state.slot);
      if (!address.equals(payer)) return [];
      state.lists.push(before);
      const from = before === undefined ? 0 : Number(before) + 1;
      return listed.slice(from, from + limit).map(
        ({ memo = null, slot = SLOT }, at): Partial<ConfirmedSignatureInfo> => ({
          signature: String(from + at),
          memo,
          slot,
          blockTime: 1, // A time that no machine's clock would expect.
        }),
      );
    },
    async getTransaction(signature: string, config: object) {
      expect(config).to.deep.equal({ commitment: "confirmed", maxSupportedTransactionVersion: 0 });
      state.fetched += 1;
      state.atOnce += 1;
      state.most = Math.max(state.most, state.atOnce);
      await new Promise((done) => setImmediate(done));
      state.atOnce -= 1;
      const { transaction, isLost, result } = listed[Number(signature)] as Listed;
      if (isLost) return { meta: null };
      return { meta: { err: null }, transaction: { message: transaction.message, signatures: [signature] }, ...result };
    },
    isBlockhashValid: async (_blockhash: string, { commitment }: { commitment: string }) => ({
      context: { slot: commitment === "processed" ? state.slot + 32 : state.slot },
      value: state.isValid[commitment === "processed" ? 0 : 1],
    }),
    getBlockTime: async (slot: number) => {
      expect(slot).to.equal(state.slot);
      return state.blockTime;
    },
    getParsedTokenAccountsByOwner: async () => ({
      value: [3, 4].map((amount) => ({ account: { data: { parsed: { info: { tokenAmount: { amount } } } } } })),
    }),
  };
  return { node: node as unknown as Connection, state }; // As much of a connection as is used.
}
