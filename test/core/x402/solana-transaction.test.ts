import { mock } from "node:test";
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { expect } from "chai";
import fc from "fast-check";
import { type Payment, readPayment } from "../../../runtime/core/x402/read-payment.ts";
import { parseSolanaTransaction } from "../../../runtime/core/x402/solana-transaction.ts";

const payer = Keypair.generate();
const TOKEN = new PublicKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");

function transfer(amount: bigint, authority?: PublicKey): TransactionInstruction {
  const data = Buffer.alloc(10);
  data.writeUInt8(12, 0);
  data.writeBigUInt64LE(amount, 1);
  data.writeUInt8(6, 9);
  const keys = Array.from({ length: 4 }, (_, at) => {
    const isSigner = at === 3 && authority !== undefined;
    return { pubkey: isSigner ? authority : Keypair.generate().publicKey, isSigner, isWritable: !isSigner };
  });
  return new TransactionInstruction({ programId: TOKEN, keys, data });
}

function serialize(
  instructions: TransactionInstruction[],
  version: "legacy" | 0,
  tables: AddressLookupTableAccount[] = [],
): { bytes: Buffer; message: Buffer } {
  const recentBlockhash = Keypair.generate().publicKey.toBase58();
  const draft = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(
    version === 0 ? draft.compileToV0Message(tables) : draft.compileToLegacyMessage(),
  );
  transaction.sign([payer]);
  return { bytes: Buffer.from(transaction.serialize()), message: Buffer.from(transaction.message.serialize()) };
}

function readText(transaction: string): Payment {
  const payment = { x402Version: 1, scheme: "exact", network: "solana:x", payload: { transaction } };
  return readPayment(payment, new Map([["x", "solana:x"]])) as Payment;
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

  it("says who pays whom, where the payer itself signs", () => {
    const paid = transfer(1n, payer.publicKey);
    const { bytes, message } = serialize([ComputeBudgetProgram.setComputeUnitLimit({ units: 1 }), paid], 0);
    const { transfer: found, ...parsed } = parseSolanaTransaction(bytes.toString("base64"))!;
    expect(found?.payer).to.equal(payer.publicKey.toBase58());
    expect(Buffer.from(found!.destination!).equals(paid.keys[2]!.pubkey.toBuffer())).to.equal(true);
    expect(Buffer.from(found!.signature).equals(bytes.subarray(1, 65))).to.equal(true);
    const { recentBlockhash } = VersionedTransaction.deserialize(bytes).message;
    expect(new PublicKey(parsed.blockhash).toBase58()).to.equal(recentBlockhash);
    expect(Buffer.from(parsed.message).equals(message)).to.equal(true);
    const unsigned = serialize([transfer(1n)], 0).bytes.toString("base64");
    expect(parseSolanaTransaction(unsigned)).to.deep.include({ amount: 1n, transfer: undefined });
  });

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

  it("is none when a length has more bytes than it needs: the same payment has one identity", () => {
    const { bytes } = serialize([transfer(1000n)], 0);
    expect(bytes.at(-1), "the number of lookups").to.equal(0);
    const [head, spellings] = [
      bytes.subarray(0, -1),
      [
        [0x80, 0],
        [0x80, 0x80, 0],
      ],
    ];
    for (const spelling of spellings) {
      const other = Buffer.concat([head, Buffer.from(spelling)]);
      const { message } = VersionedTransaction.deserialize(other);
      expect(Buffer.from(message.serialize()), "to web3.js they are equal").to.deep.equal(
        Buffer.from(VersionedTransaction.deserialize(bytes).message.serialize()),
      );
      expect(parseSolanaTransaction(other.toString("base64"))).to.equal(undefined);
    }
  });

  it("is read past its lookups in address tables, and past data whose length takes two bytes", () => {
    const paid = transfer(7n);
    for (const [at, key] of paid.keys.entries()) key.isWritable = at % 2 === 0;
    const tables = [paid.keys.slice(0, 2), paid.keys.slice(2)].map(
      (keys) =>
        new AddressLookupTableAccount({
          key: Keypair.generate().publicKey,
          state: {
            deactivationSlot: 2n ** 64n - 1n,
            lastExtendedSlot: 0,
            lastExtendedSlotStartIndex: 0,
            addresses: keys.map(({ pubkey }) => pubkey),
          },
        }),
    );
    const memo = new TransactionInstruction({ programId: TOKEN, keys: [], data: Buffer.alloc(300, 1) });
    const { bytes, message } = serialize([memo, paid], 0, tables);
    const parsed = parseSolanaTransaction(bytes.toString("base64"));
    expect(parsed?.amount).to.equal(7n);
    expect(Buffer.from(parsed?.message ?? []).equals(message)).to.equal(true);
    expect(parseSolanaTransaction(bytes.subarray(0, -1).toString("base64"))).to.equal(undefined);
  });

  it("is none beyond the packet limit of the network, which is 1232 bytes", () => {
    // No signature, one key, and one instruction with data of this length.
    const withData = (length: number): string => {
      const head = [0, 0, 0, 0, 1, ...Buffer.alloc(64), 1, 0, 0, (length & 0x7f) | 0x80, length >> 7];
      return Buffer.concat([Buffer.from(head), Buffer.alloc(length, 1)]).toString("base64");
    };
    expect(parseSolanaTransaction(withData(1158))).to.have.property("amount", undefined);
    expect(Buffer.from(withData(1158), "base64")).to.have.length(1232);
    expect(parseSolanaTransaction(withData(1159))).to.equal(undefined);
  });

  it("is none when an instruction names a program or an account that the transaction does not hold", () => {
    const { bytes } = serialize([transfer(1n)], 0);
    const { staticAccountKeys: keys, compiledInstructions } = VersionedTransaction.deserialize(bytes).message;
    const { programIdIndex, accountKeyIndexes } = compiledInstructions[0]!;
    const at = bytes.lastIndexOf(Buffer.from([programIdIndex, accountKeyIndexes.length, ...accountKeyIndexes]));
    for (const place of [at, at + 2, at + 5])
      for (const [index, isHeld] of [
        [keys.length - 1, true],
        [keys.length, false],
      ] as const) {
        const other = Buffer.from(bytes);
        other[place] = index;
        expect(parseSolanaTransaction(other.toString("base64")) !== undefined).to.equal(isHeld);
      }
  });

  it("pays nothing by another instruction of the token, by a shorter one, or by a memo of its form", () => {
    for (const change of [
      ({ data }: TransactionInstruction) => ({ data: data.fill(3, 0, 1) }),
      ({ data }: TransactionInstruction) => ({ data: data.subarray(0, -1) }),
      () => ({ programId: Keypair.generate().publicKey }),
    ]) {
      const other = transfer(1000n);
      Object.assign(other, change(other));
      expect(parseSolanaTransaction(serialize([other], 0).bytes.toString("base64"))).to.have.property(
        "amount",
        undefined,
      );
      const both = serialize([other, transfer(5n)], 0).bytes.toString("base64");
      expect(parseSolanaTransaction(both)).to.have.property("amount", 5n);
    }
  });

  it("pays by one that is longer, of which the token ignores the rest", () => {
    const paid = transfer(5n);
    paid.data = Buffer.concat([paid.data, Buffer.of(0)]);
    expect(parseSolanaTransaction(serialize([paid], 0).bytes.toString("base64"))).to.have.property("amount", 5n);
  });

  it("says no amount where two transfers leave it open", () => {
    const { bytes } = serialize([transfer(1n), transfer(2n)], 0);
    expect(parseSolanaTransaction(bytes.toString("base64"))).to.have.property("amount", undefined);
  });

  it("takes no memory for more parts than its bytes could hold", () => {
    const from = mock.method(Array, "from");
    const most = [0xff, 0xff, 0x7f];
    for (const head of [most, [0, 0, 0, 0, ...most], [0, 0, 0, 0, 0, ...Buffer.alloc(32), ...most]])
      expect(parseSolanaTransaction(Buffer.from(head).toString("base64"))).to.equal(undefined);
    from.mock.restore();
    const lengths = from.mock.calls.map(({ arguments: [given] }) => (given as ArrayLike<unknown>).length);
    expect(Math.max(0, ...lengths)).to.be.below(100);
  });

  it("survives any bytes, alone and within a transaction", () => {
    const parse = (bytes: Uint8Array) => void parseSolanaTransaction(Buffer.from(bytes).toString("base64"));
    const { bytes: whole } = serialize([transfer(1n)], 0);
    const place = fc.nat({ max: whole.length - 3 });
    const some = fc.uint8Array({ maxLength: 3 });
    const within = fc.property(place, some, (at, noise) =>
      parse(Buffer.concat([whole.subarray(0, at), noise, whole.subarray(at + noise.length)])),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 1400 }), parse), { numRuns: 2000 });
    fc.assert(within, { numRuns: 2000 });
  });

  it("reaches facilitators in standard base64, however it was written: some decoders skip other letters", () => {
    const standard = serialize([transfer(2n ** 64n - 1n)], 0).bytes.toString("base64");
    expect(standard).to.contain("/");
    const plain = standard.replace(/=+$/, "");
    for (const text of [standard, plain, plain.replaceAll("+", "-").replaceAll("/", "_")])
      expect(readText(text).payload.transaction).to.equal(standard);
  });

  it("is the same payment under every signature, and only who holds the same one gets what it bought", () => {
    const { bytes } = serialize([transfer(1n)], 0);
    const other = Buffer.from(bytes);
    other[1] = (other[1] as number) ^ 1; // After the count of signatures.
    const [one, another] = [bytes, other].map((raw) => readText(raw.toString("base64")).authorization);
    expect(another?.id).to.equal(one?.id);
    expect(another?.fingerprint).not.to.equal(one?.fingerprint);
  });
});
