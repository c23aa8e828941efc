import {
  ComputeBudgetProgram,
  type Connection,
  Keypair,
  MessageV1,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
} from "@solana/web3.js";
import { expect } from "chai";
import type { SolanaClient } from "../../../runtime/drivers/solana/client.ts";
import { MEMO_PROGRAM, TOKEN_PROGRAM } from "../../../runtime/drivers/solana/programs.ts";
import { createSolanaTransfers } from "../../../runtime/drivers/solana/transfers.ts";

const makeKey = (): PublicKey => Keypair.generate().publicKey;
const [SELLER, BUYER, MINT, PAYER_OF_FEES] = [makeKey(), makeKey(), makeKey(), makeKey()];
const SIGNATURE = "5".repeat(87); // 64 bytes in base58.

describe("the transfers of a token on Solana", () => {
  /** What the node lists of the seller's account, and the transactions that it has. */
  let listed: { readonly signature: string; readonly blockTime: number | null; readonly err: unknown }[];
  let transactions: Map<string, Readonly<Record<string, unknown>>>;
  const node = {
    async getSignaturesForAddress(
      _: PublicKey,
      { before, limit }: { readonly before?: string; readonly limit: number },
    ) {
      const from = before === undefined ? 0 : listed.findIndex(({ signature }) => signature === before) + 1;
      return listed.slice(from, from + limit);
    },
    async getTransaction(signature: string, { maxSupportedTransactionVersion: newest }: Record<string, number>) {
      const landed = transactions.get(signature);
      if (Number(landed?.version) > Number(newest)) throw new Error("The version is not supported");
      return landed ?? null;
    },
  } as unknown as Connection;
  const client: SolanaClient = { ask: (work) => work(node) };
  const transfers = createSolanaTransfers({ client, mint: MINT.toBase58() });

  beforeEach(() => {
    [listed, transactions] = [[], new Map()];
  });

  /** A transaction after which the seller holds 1000 more and the buyer 1000 less. */
  function land(
    signature: string,
    { at = 10 as number | null, err = null, instructions = [] as TransactionInstruction[], version = 0 } = {},
  ): void {
    const common = new TransactionMessage({
      payerKey: PAYER_OF_FEES,
      recentBlockhash: makeKey().toBase58(),
      instructions,
    }).compileToV0Message();
    const message = version === 0 ? common : new MessageV1(common);
    const held = (owner: PublicKey, amount: string) => ({
      accountIndex: 0,
      mint: MINT.toBase58(),
      owner: owner.toBase58(),
      uiTokenAmount: { amount },
    });
    const preTokenBalances = [held(SELLER, "5"), held(BUYER, "1000")];
    const postTokenBalances = [held(SELLER, "1005"), held(BUYER, "0")];
    const meta = { err, preTokenBalances, postTokenBalances };
    listed.push({ signature, blockTime: at, err });
    transactions.set(signature, { version, blockTime: at, meta, transaction: { message, signatures: [signature] } });
  }

  it("are those of a span, its first moment included and its last not, without those that failed", async () => {
    for (const at of [9, 10, 19, 20]) land(`at ${at}`, { at });
    land("failed", { at: 11, err: { InstructionError: [0, "no"] } as never });
    const found = await transfers.read([SELLER.toBase58()], { from: 10_000, to: 20_000 });
    expect(found.map(({ transaction }) => transaction)).to.deep.equal(["at 10", "at 19"]);
    const [from, to, signer] = [BUYER, SELLER, PAYER_OF_FEES].map((key) => key.toBase58());
    const expected = { transaction: "at 10", from, signers: [signer], to, amount: 1000n, at: 10_000 };
    expect(found[0]).to.deep.equal(expected);
  });

  it("are also those behind and at entries of whose blocks the node has no time, which are older than what is before them", async () => {
    for (let count = 1; count < 1000; count += 1) land(`failed ${count}`, { at: 15, err: "no" as never });
    land("untimed", { at: null }); // The last of its page.
    land("behind", { at: 12 });
    land("too old", { at: 9 });
    land("too old and untimed", { at: null });
    const found = await transfers.read([SELLER.toBase58()], { from: 10_000, to: 20_000 });
    expect(found.map(({ transaction, at }) => [transaction, at])).to.deep.equal([
      ["untimed", 15_000],
      ["behind", 12_000],
    ]);
    listed = [];
    land("the newest", { at: null });
    expect(await transfers.read([SELLER.toBase58()], { from: 10_000, to: 20_000 })).to.have.length(1);
  });

  it("are also those of transactions of version 1", async () => {
    land(SIGNATURE, { version: 1 });
    expect(await transfers.read([SELLER.toBase58()], { from: 0, to: 20_000 })).to.have.length(1);
    expect(await transfers.of(SIGNATURE, [SELLER.toBase58()])).to.have.length(1);
    expect(await transfers.isPayment(SIGNATURE)).to.equal(false);
  });

  it("of a transaction are none when it failed, when there is none, and when it has no signature's form", async () => {
    const of = async (signature: string): Promise<number> =>
      (await transfers.of(signature, [SELLER.toBase58()])).length;
    expect(await of(SIGNATURE)).to.equal(0);
    land(SIGNATURE);
    expect(await of(SIGNATURE)).to.equal(1);
    land(SIGNATURE, { err: { InstructionError: [0, "no"] } as never });
    expect(await of(SIGNATURE)).to.equal(0);
    land("no signature");
    expect(await of("no signature")).to.equal(0);
  });

  const budget = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 1 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
  ];
  const toInstruction = (program: string, data: number[], authority = BUYER): TransactionInstruction =>
    new TransactionInstruction({
      programId: new PublicKey(program),
      keys: [{ pubkey: authority, isSigner: true, isWritable: true }],
      data: Buffer.from(data),
    });
  const pay = toInstruction(TOKEN_PROGRAM, [12]);
  const memo = toInstruction(MEMO_PROGRAM, [65]);
  const forms: Readonly<Record<string, readonly [isPayment: boolean, instructions: TransactionInstruction[]]>> = {
    "as stock clients make it": [true, [...budget, pay, memo]],
    "without a memo": [false, [...budget, pay]],
    "with its memo before the transfer": [false, [...budget, memo, pay]],
    "without a budget": [false, [pay, memo]],
    "of another instruction": [false, [...budget, toInstruction(TOKEN_PROGRAM, [3]), memo]],
    "by the one who pays the fee": [false, [...budget, toInstruction(TOKEN_PROGRAM, [12], PAYER_OF_FEES), memo]],
  };
  for (const [form, [isPayment, instructions]] of Object.entries(forms))
    it(`are ${isPayment ? "payments" : "no payments"} by x402 in a transaction ${form}`, async () => {
      land(SIGNATURE, { instructions });
      expect(await transfers.isPayment(SIGNATURE)).to.equal(isPayment);
    });
});
