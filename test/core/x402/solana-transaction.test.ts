import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { expect } from "chai";
import fc from "fast-check";
import { parseSolanaTransaction } from "../../../runtime/core/x402/solana-transaction.ts";

const payer = Keypair.generate();
const TOKEN = new PublicKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");

function transfer(amount: bigint): TransactionInstruction {
  const data = Buffer.alloc(10);
  data.writeUInt8(12, 0);
  data.writeBigUInt64LE(amount, 1);
  data.writeUInt8(6, 9);
  const keys = Array.from({ length: 4 }, () => ({
    pubkey: Keypair.generate().publicKey,
    isSigner: false,
    isWritable: true,
  }));
  return new TransactionInstruction({ programId: TOKEN, keys, data });
}

function serialize(instructions: TransactionInstruction[], version: "legacy" | 0): { bytes: Buffer; message: Buffer } {
  const recentBlockhash = Keypair.generate().publicKey.toBase58();
  const draft = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(
    version === 0 ? draft.compileToV0Message() : draft.compileToLegacyMessage(),
  );
  transaction.sign([payer]);
  return { bytes: Buffer.from(transaction.serialize()), message: Buffer.from(transaction.message.serialize()) };
}

describe("a Solana payment's transaction", () => {
  for (const version of ["legacy", 0] as const) {
    it(`gives its message and its transfer's amount, in version ${version}`, () => {
      fc.assert(
        fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (amount) => {
          const { bytes, message } = serialize(
            [ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }), transfer(amount)],
            version,
          );
          const parsed = parseSolanaTransaction(bytes.toString("base64"));
          expect(parsed?.amount).to.equal(amount);
          expect(Buffer.from(parsed?.message ?? []).equals(message)).to.equal(true);
        }),
        { numRuns: 20 },
      );
    });
  }

  it("is none when bytes are missing or added: the same payment has one identity", () => {
    const { bytes } = serialize([transfer(1000n)], 0);
    for (const other of [
      bytes.subarray(0, -1),
      Buffer.concat([bytes, Buffer.from([0])]),
      bytes.subarray(1),
      Buffer.alloc(0),
    ]) {
      expect(parseSolanaTransaction(other.toString("base64"))).to.equal(undefined);
    }
  });

  it("says no amount where two transfers leave it open", () => {
    const { bytes } = serialize([transfer(1n), transfer(2n)], 0);
    expect(parseSolanaTransaction(bytes.toString("base64"))).to.have.property("amount", undefined);
  });

  it("survives any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1400 }), (bytes) => {
        parseSolanaTransaction(Buffer.from(bytes).toString("base64"));
      }),
      { numRuns: 2000 },
    );
  });
});
