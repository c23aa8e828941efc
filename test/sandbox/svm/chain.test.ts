import {
  Connection,
  Keypair,
  PublicKey,
  SendTransactionError,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { expect } from "chai";
import { type SvmChain, startSvmChain } from "../../../runtime/sandbox/svm/chain.ts";
import { rail } from "../../support/chains/chains.ts";

const mint = new PublicKey(rail("solana").asset);
const V0 = { maxSupportedTransactionVersion: 0 };

describe("the sandbox's Solana chain", () => {
  let chain: SvmChain;
  let connection: Connection;
  let time: number;
  const payer = Keypair.generate();
  const other = Keypair.generate().publicKey;

  beforeEach(async () => {
    time = Date.UTC(2026, 0, 1);
    chain = await startSvmChain({ clock: { now: () => time } });
    chain.putMint(mint.toBase58(), 6);
    chain.airdrop(payer.publicKey.toBase58(), 10n ** 9n);
    chain.airdrop(other.toBase58(), 10n ** 9n);
    connection = new Connection(chain.url, "confirmed");
  });
  afterEach(() => chain.stop());

  const transfer = (lamports: number): TransactionInstruction =>
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: other, lamports });
  const build = async (...instructions: TransactionInstruction[]): Promise<VersionedTransaction> => {
    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    transaction.sign([payer]);
    return transaction;
  };
  const send = async (transaction: VersionedTransaction): Promise<string> => connection.sendTransaction(transaction);
  const sendBlindly = (transaction: VersionedTransaction): Promise<string> =>
    connection.sendTransaction(transaction, { skipPreflight: true });
  const isLanded = async (signature: string): Promise<boolean> =>
    (await connection.getSignatureStatus(signature)).value?.confirmationStatus === "finalized";
  const refusalOf = (sending: Promise<unknown>): Promise<string> =>
    sending.then(
      () => "it was taken",
      (error: Error) => (error instanceof SendTransactionError ? error.transactionError.message : error.message),
    );

  it("carries a transaction out, once", async () => {
    const transaction = await build(transfer(1000));
    const signature = await send(transaction);
    expect(await isLanded(signature)).to.equal(true);
    expect(await connection.getBalance(other)).to.equal(1_000_001_000);
    expect(await refusalOf(send(transaction))).to.equal(
      "Transaction simulation failed: This transaction has already been processed",
    );
    expect(await sendBlindly(transaction)).to.equal(signature);
    expect(await connection.getBalance(other)).to.equal(1_000_001_000);
  });

  it("moves on by 400 ms a slot, and takes a blockhash for 150 slots", async () => {
    const slot = await connection.getSlot();
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    const [last, late] = [await build(transfer(1)), await build(transfer(2))];
    time += 150 * 400;
    expect(await connection.getSlot()).to.equal(slot + 150);
    expect(await connection.getBlockHeight()).to.equal(lastValidBlockHeight);
    expect(await connection.getBlockTime(slot)).to.equal((time - 150 * 400) / 1000);
    await send(last);
    time += 400;
    expect((await connection.isBlockhashValid(blockhash)).value).to.equal(false);
    expect(await refusalOf(send(late))).to.equal("Transaction simulation failed: Blockhash not found");
    expect(await isLanded(await sendBlindly(late))).to.equal(false);
    expect((await connection.simulateTransaction(late, { replaceRecentBlockhash: true })).value.err).to.equal(null);
    expect((await connection.getFeeForMessage(late.message)).value).to.equal(null);
  });

  it("forgets every blockhash when it is told to, but gives new ones", async () => {
    const late = await build(transfer(1));
    chain.expireBlockhash();
    expect(await refusalOf(send(late))).to.equal("Transaction simulation failed: Blockhash not found");
    expect(await isLanded(await send(await build(transfer(1))))).to.equal(true);
  });

  it("loses as many transactions as it is told to, without a word", async () => {
    const [lost, taken] = [await build(transfer(1)), await build(transfer(2))];
    chain.drop(1);
    expect(await isLanded(await send(lost))).to.equal(false);
    expect(await isLanded(await send(taken))).to.equal(true);
    expect(await isLanded(await send(lost)), "when it is sent again").to.equal(true);
  });

  it("holds transactions back until it is told to go on, and those that expired meanwhile for ever", async () => {
    chain.hold();
    const expired = await send(await build(transfer(1)));
    chain.expireBlockhash();
    const patient = await send(await build(transfer(2)));
    expect([await isLanded(expired), await isLanded(patient)]).to.deep.equal([false, false]);
    chain.release();
    expect([await isLanded(expired), await isLanded(patient)]).to.deep.equal([false, true]);
    expect(await isLanded(await send(await build(transfer(3))))).to.equal(true);
  });

  it("says why a transaction would fail, and keeps one that did, with its fee", async () => {
    const transaction = await build(transfer(2e9));
    const before = await connection.getBalance(payer.publicKey);
    expect(await refusalOf(send(transaction))).to.equal(
      "Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1",
    );
    expect(await connection.getBalance(payer.publicKey)).to.equal(before);

    const signature = await sendBlindly(transaction);
    const err = { InstructionError: [0, { Custom: 1 }] };
    expect((await connection.getSignatureStatus(signature)).value?.err).to.deep.equal(err);
    expect(await connection.getTransaction(signature, V0))
      .to.deep.include.keys("meta")
      .and.nested.include({
        "meta.fee": 5000,
      });
    expect(await connection.getBalance(payer.publicKey)).to.equal(before - 5000);
  });

  it("refuses a signature that does not fit", async () => {
    const transaction = await build(transfer(1));
    transaction.signatures[0]![7]! ^= 1;
    expect(await refusalOf(send(transaction))).to.include("Transaction signature verification failure");
    await sendBlindly(transaction);
    expect(await connection.getBalance(other)).to.equal(1e9);
    const { value } = await connection.simulateTransaction(transaction, { sigVerify: true });
    expect(value.err).to.equal("SignatureFailure");
  });

  it("refuses whom it does not know to pay a fee", async () => {
    const poor = Keypair.generate();
    const { blockhash } = await connection.getLatestBlockhash();
    const transaction = new Transaction({ feePayer: poor.publicKey, recentBlockhash: blockhash });
    transaction.add(SystemProgram.transfer({ fromPubkey: poor.publicKey, toPubkey: other, lamports: 1 }));
    expect(await refusalOf(connection.sendTransaction(transaction, [poor]))).to.equal(
      "Transaction simulation failed: Attempt to debit an account but found no record of a prior credit.",
    );
  });

  it("airdrops what is asked for, as often as it is asked", async () => {
    const to = Keypair.generate().publicKey;
    const [first, second] = [await connection.requestAirdrop(to, 1e9), await connection.requestAirdrop(to, 1e9)];
    expect([await isLanded(first), await isLanded(second)]).to.deep.equal([true, true]);
    expect(await connection.getBalance(to)).to.equal(2e9);
  });

  it("shows token accounts and their mint, in bytes and parsed", async () => {
    const address = new PublicKey(chain.putTokenAccount(payer.publicKey.toBase58(), 1_500_000n));
    expect(chain.tokenBalance(payer.publicKey.toBase58())).to.equal(1_500_000n);
    expect(chain.tokenBalance(other.toBase58())).to.equal(0n);
    const amount = { amount: "1500000", decimals: 6, uiAmount: 1.5, uiAmountString: "1.5" };
    expect((await connection.getTokenAccountBalance(address)).value).to.deep.equal(amount);
    const { value: mine } = await connection.getParsedTokenAccountsByOwner(payer.publicKey, { mint });
    expect(mine).to.have.lengthOf(1);
    expect(mine[0]?.pubkey.toBase58()).to.equal(address.toBase58());
    expect(mine[0]?.account.data.parsed.info).to.deep.include({ mint: mint.toBase58(), tokenAmount: amount });
    expect((await connection.getTokenAccountsByOwner(other, { mint })).value).to.deep.equal([]);
    expect(await connection.getParsedAccountInfo(mint)).to.nested.include({
      "value.data.parsed.type": "mint",
      "value.data.parsed.info.decimals": 6,
    });
    const [bytes, nothing] = await connection.getMultipleAccountsInfo([address, Keypair.generate().publicKey]);
    expect(bytes?.data.readBigUInt64LE(64)).to.equal(1_500_000n);
    expect(nothing).to.equal(null);
  });

  it("stands for mainnet, and is well", async () => {
    expect(await connection.getGenesisHash()).to.equal("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d");
    expect(chain.network).to.equal(rail("solana").network);
    expect((await connection.getEpochInfo()).absoluteSlot).to.equal(await connection.getSlot());
    expect((await connection.getVersion())["solana-core"]).to.match(/^\d+\.\d+\.\d+$/);
    expect(await connection.getMinimumBalanceForRentExemption(165)).to.equal(2_039_280);
    expect((await connection.getFeeForMessage((await build(transfer(1))).message)).value).to.equal(5000);
  });
});
