import { base58 } from "@scure/base";
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { expect } from "chai";
import transaction from "../../../plugins/transaction/index.ts";
import { type SvmChain, startSvmChain } from "../../../runtime/sandbox/svm/chain.ts";
import { toTokenAddress } from "../../../runtime/sandbox/svm/tokens.ts";
import { rail } from "../../support/chains/chains.ts";
import { createHost, problemOf, type Serve, serve } from "../host.ts";
import { NO_EVM } from "./recorded-chains.ts";

const MINT = rail("solana").asset;
const SPL_TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ASSOCIATED = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const MEMO = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
const SYSTEM = SystemProgram.programId.toBase58();

/** What these tests read of an answer. */
interface Call {
  readonly program: string | null;
  readonly program_id: string;
  readonly accounts: readonly string[];
  readonly data: string;
  readonly parsed: unknown;
  readonly error?: unknown;
  readonly inner: readonly (Call & { readonly stack_height: number })[];
}

describe("a transaction of a real Solana chain", () => {
  let now = Date.UTC(2026, 0, 1);
  let chain: SvmChain;
  let connection: Connection;
  let decode: Serve;
  const payer = Keypair.generate();
  const owner = payer.publicKey.toBase58();
  const other = Keypair.generate();
  const recipient = other.publicKey.toBase58();

  before(async () => {
    chain = await startSvmChain({ clock: { now: () => now } });
    chain.airdrop(owner, 10n ** 10n);
    chain.airdrop(recipient, 10n ** 9n);
    chain.putMint(MINT, 6);
    chain.putTokenAccount(owner, 5_000_000n);
    connection = new Connection(chain.url, "confirmed");
    const urls = { base: "http://127.0.0.1:9", ethereum: "http://127.0.0.1:9", solana: chain.url };
    decode = await serve("decode_tx", transaction, createHost({}, { urls }));
  });
  after(() => chain.stop());

  const ask = (tx_hash: string): ReturnType<Serve> => decode({ chain: "solana", tx_hash });
  const callsOf = async (signature: string): Promise<Call[]> => (await ask(signature)).program_calls as Call[];

  async function send(
    instructions: TransactionInstruction[],
    { tables, signers = [payer] }: { tables?: AddressLookupTableAccount[]; signers?: Keypair[] } = {},
  ): Promise<string> {
    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions });
    const versioned = new VersionedTransaction(message.compileToV0Message(tables));
    versioned.sign(signers);
    return connection.sendTransaction(versioned, { skipPreflight: true });
  }

  /** @param accounts base58, with `+` for those that are written to. */
  const instruction = (programId: string, accounts: readonly string[], data: Uint8Array): TransactionInstruction =>
    new TransactionInstruction({
      programId: new PublicKey(programId),
      keys: accounts.map((account) => ({
        pubkey: new PublicKey(account.replace("+", "")),
        isSigner: account.replace("+", "") === owner,
        isWritable: account.startsWith("+"),
      })),
      data: Buffer.from(data),
    });
  const memo = (text: string): TransactionInstruction => instruction(MEMO, [], Buffer.from(text));
  const pay = (lamports: number): TransactionInstruction =>
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: other.publicKey, lamports });

  it("is decoded: a legacy transfer, with the price of its computing and a memo", async () => {
    const { blockhash } = await connection.getLatestBlockhash();
    const legacy = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash }).add(
      ComputeBudgetProgram.setComputeUnitLimit({ units: 50_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 2_000_000 }),
      pay(1_000_000),
      memo("für 2 Kaffee ☕"),
    );
    legacy.sign(payer);
    const tx_hash = await connection.sendRawTransaction(legacy.serialize());
    const { slot, program_calls, ...fields } = await ask(tx_hash);
    expect(fields).to.deep.equal({
      chain: "solana",
      tx_hash,
      status: "success",
      native_currency: "SOL",
      signers: [owner],
      block_time: now / 1000,
      fee_lamports: 5000 + 100_000,
      ...NO_EVM,
    });
    expect(slot).to.equal(await connection.getSlot());
    expect((program_calls as Call[]).map(({ program, parsed }) => ({ program, parsed }))).to.deep.equal([
      { program: "compute-budget", parsed: { type: "setComputeUnitLimit", info: { units: 50_000 } } },
      { program: "compute-budget", parsed: { type: "setComputeUnitPrice", info: { microLamports: "2000000" } } },
      {
        program: "system",
        parsed: { type: "transfer", info: { source: owner, destination: recipient, lamports: "1000000" } },
      },
      { program: "spl-memo", parsed: { type: "memo", info: { memo: "für 2 Kaffee ☕" } } },
    ]);
  });

  it("is decoded: an account for tokens with all the calls that make it, and a transfer to it", async () => {
    const [source, destination] = [toTokenAddress(MINT, owner), toTokenAddress(MINT, recipient)];
    const checked = Buffer.from("0c40420f000000000006", "hex"); // 1 000 000 of 6 decimals
    const signature = await send([
      instruction(ASSOCIATED, [`+${owner}`, `+${destination}`, recipient, MINT, SYSTEM, SPL_TOKEN], Buffer.alloc(0)),
      instruction(SPL_TOKEN, [`+${source}`, MINT, `+${destination}`, owner], checked),
    ]);
    const [creation, transfer] = await callsOf(signature);
    expect(creation).to.include({ program: "spl-associated-token-account", program_id: ASSOCIATED });
    expect(creation?.parsed).to.deep.equal({
      type: "create",
      info: {
        source: owner,
        account: destination,
        wallet: recipient,
        mint: MINT,
        systemProgram: SYSTEM,
        tokenProgram: SPL_TOKEN,
      },
    });
    const within = creation?.inner.map(({ program, parsed, stack_height }) => ({
      program,
      stack_height,
      ...(parsed as { type: string; info: object }),
    }));
    expect(within).to.deep.include.members([
      {
        program: "system",
        stack_height: 2,
        type: "createAccount",
        info: { source: owner, newAccount: destination, lamports: "2039280", space: "165", owner: SPL_TOKEN },
      },
      {
        program: "spl-token",
        stack_height: 2,
        type: "initializeAccount3",
        info: { account: destination, mint: MINT, owner: recipient },
      },
    ]);
    expect(transfer).to.deep.include({
      program: "spl-token",
      accounts: [source, MINT, destination, owner],
      inner: [],
      parsed: {
        type: "transferChecked",
        info: { source, mint: MINT, destination, authority: owner, amount: "1000000", decimals: 6 },
      },
    });
    expect(chain.tokenBalance(recipient)).to.equal(1_000_000n);
  });

  it("is decoded: version 0, with accounts that only a lookup table names", async () => {
    const authority = payer.publicKey;
    const [create, key] = AddressLookupTableProgram.createLookupTable({ authority, payer: authority, recentSlot: 0 });
    const addresses = [other.publicKey, new PublicKey(MINT)];
    const extend = AddressLookupTableProgram.extendLookupTable({
      authority,
      payer: authority,
      lookupTable: key,
      addresses,
    });
    const making = await callsOf(await send([create, extend]));
    expect(making.map(({ program, parsed }) => ({ program, parsed }))).to.deep.equal([
      { program: "address-lookup-table", parsed: null },
      { program: "address-lookup-table", parsed: null },
    ]);
    now += 1000; // A table's addresses can be used from the next slot on.
    const { data } = (await connection.getAccountInfo(key))!;
    const tables = [new AddressLookupTableAccount({ key, state: AddressLookupTableAccount.deserialize(data) })];
    const readMint = instruction(SPL_TOKEN, [MINT], Buffer.from("15", "hex"));
    const signature = await send([pay(7_000_000), readMint], { tables });
    const found = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(found?.transaction.message.staticAccountKeys.map(String)).not.to.include.members([recipient]);
    const [transfer, reading] = await callsOf(signature);
    expect(transfer?.accounts).to.deep.equal([owner, recipient]);
    expect(reading?.parsed).to.deep.equal({ type: "getAccountDataSize", info: { mint: MINT } });
  });

  it("is decoded: one that failed, with the call that failed and why, and its fee", async () => {
    const tooMuch = Buffer.from("03ffffffffffffff7f", "hex");
    const [source, destination] = [toTokenAddress(MINT, owner), toTokenAddress(MINT, recipient)];
    const signature = await send([
      pay(1_000_000),
      instruction(SPL_TOKEN, [`+${source}`, `+${destination}`, owner], tooMuch),
      memo("never run"),
    ]);
    const answer = await ask(signature);
    expect(answer).to.include({ status: "failed", fee_lamports: 5000 });
    const calls = answer.program_calls as Call[];
    expect(calls.map(({ error }) => error)).to.deep.equal([undefined, { Custom: 1 }, undefined]);
    expect(calls[1]?.parsed).to.have.nested.property("info.amount", "9223372036854775807");
    expect(calls[2]?.parsed).to.deep.equal({ type: "memo", info: { memo: "never run" } });
  });

  it("is signed by all whose signature it needed, the payer of the fee first", async () => {
    const back = SystemProgram.transfer({ fromPubkey: other.publicKey, toPubkey: payer.publicKey, lamports: 1 });
    expect((await ask(await send([back], { signers: [payer, other] }))).signers).to.deep.equal([owner, recipient]);
  });

  it("shows an instruction as bytes when they say nothing that its program knows", async () => {
    const [call] = await callsOf(await send([instruction(SPL_TOKEN, [owner], Buffer.from("ff00", "hex"))]));
    expect(call).to.include({ program: "spl-token", program_id: SPL_TOKEN, parsed: null });
    expect(call?.data).to.equal(base58.encode(Buffer.from("ff00", "hex")));
  });

  it("is not found when nobody sent it", async () => {
    expect((await problemOf(ask(base58.encode(Buffer.alloc(64, 7))))).code).to.equal("nothing-found");
  });
});
