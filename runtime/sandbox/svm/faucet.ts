import { Keypair, PublicKey, SystemProgram, Transaction, TransactionInstruction } from "@solana/web3.js";
import { Problem } from "../../api/problem.ts";
import { MEMO_PROGRAM } from "../../drivers/solana/programs.ts";
import type { SvmBank } from "./bank.ts";
import type { SvmSlots } from "./slots.ts";
import { toWireTransaction } from "./transaction.ts";

/** The account that owns all lamports at the start. */
export interface SvmFaucet {
  readonly address: string;
  /** Sends lamports in a real transaction and gives its signature. @throws Problem `upstream-failed`. */
  airdrop(to: string, lamports: bigint): string;
}

/** Creates the faucet's account on an empty ledger. */
export function createFaucet(bank: SvmBank, slots: SvmSlots): SvmFaucet {
  const keypair = Keypair.generate();
  const address = keypair.publicKey.toBase58();
  const memo = new PublicKey(MEMO_PROGRAM);
  const owner = SystemProgram.programId.toBase58();
  bank.putAccount({ address, owner, lamports: 10n ** 18n, data: Buffer.alloc(0) });

  let gifts = 0;
  return {
    address,
    airdrop: (to, lamports) => {
      gifts += 1; // The memo makes two equal airdrops two different transactions.
      const { blockhash } = slots.latestBlockhash();
      const transaction = new Transaction({ feePayer: keypair.publicKey, recentBlockhash: blockhash }).add(
        SystemProgram.transfer({ fromPubkey: keypair.publicKey, toPubkey: new PublicKey(to), lamports }),
        new TransactionInstruction({ keys: [], programId: memo, data: Buffer.from(`airdrop ${gifts}`) }),
      );
      transaction.sign(keypair);
      const wire = toWireTransaction(transaction.serialize());
      bank.land(wire);
      const landed = bank.transactions.get(wire.signatures[0]);
      if (landed?.err !== null) throw new Problem("upstream-failed", `The airdrop of ${lamports} lamports failed`);
      return wire.signatures[0];
    },
  };
}
