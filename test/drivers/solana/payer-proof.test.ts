import {
  type Connection,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { expect } from "chai";
import { createSolanaPayerProof } from "../../../runtime/drivers/solana/payer-proof.ts";
import { tokenAccountOf } from "../../../runtime/drivers/solana/receiver.ts";
import { rail } from "../../support/chains/chains.ts";

const TOKEN = new PublicKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
const mint = rail("solana").asset;
const [payer, seller, stranger] = [Keypair.generate(), Keypair.generate(), Keypair.generate()];

/** A transfer that its payer has signed, and whose fee somebody else will pay. */
async function sign(to = seller): Promise<Buffer> {
  const data = Buffer.from([12, 1, 0, 0, 0, 0, 0, 0, 0, 6]);
  const accounts = [stranger.publicKey, new PublicKey(mint), await tokenAccountOf(to.publicKey.toBase58(), mint)];
  const keys = [
    ...accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: true })),
    { pubkey: payer.publicKey, isSigner: true, isWritable: false },
  ];
  const recentBlockhash = Keypair.generate().publicKey.toBase58();
  const instructions = [new TransactionInstruction({ programId: TOKEN, keys, data })];
  const draft = new TransactionMessage({ payerKey: stranger.publicKey, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(draft.compileToV0Message());
  transaction.sign([payer]);
  return Buffer.from(transaction.serialize());
}

describe("the proof of a payer on Solana", () => {
  let isValid: boolean;
  let asked: string[];
  beforeEach(() => {
    [isValid, asked] = [true, []];
  });
  const node = {
    async isBlockhashValid(blockhash: string) {
      asked.push(blockhash);
      return { context: { slot: 1 }, value: isValid };
    },
  } as unknown as Connection;
  const prove = createSolanaPayerProof({
    client: { ask: (work) => work(node) },
    payTo: seller.publicKey.toBase58(),
    mint,
  });
  const proves = (bytes: Buffer): ReturnType<typeof prove> => prove({ transaction: bytes.toString("base64") });

  it("is the signature over a transfer to the seller whose blockhash is valid", async () => {
    const bytes = await sign();
    expect(await proves(bytes)).to.equal("key");
    expect(asked).to.deep.equal([VersionedTransaction.deserialize(bytes).message.recentBlockhash]);
    isValid = false;
    expect(await proves(bytes)).to.equal(undefined);
  });

  it("is no other signature, no transfer to somebody else, and nothing that cannot be read", async () => {
    const bytes = await sign();
    const changed = Buffer.from(bytes);
    changed.writeUInt8((changed.at(-20) ?? 0) ^ 1, changed.length - 20);
    const other = Buffer.from(bytes);
    other.fill(7, 65, 129);
    for (const wrong of [changed, other, await sign(stranger), bytes.subarray(1), Buffer.alloc(0)])
      expect(await proves(wrong)).to.equal(undefined);
    expect(await prove({})).to.equal(undefined);
    expect(asked).to.deep.equal([]);
  });
});
