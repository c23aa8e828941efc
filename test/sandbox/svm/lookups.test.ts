import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  Connection,
  Keypair,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { expect } from "chai";
import { type SvmChain, startSvmChain } from "../../../runtime/sandbox/svm/chain.ts";

describe("a transaction with an address lookup table on the sandbox's Solana chain", () => {
  let now = Date.now();
  let chain: SvmChain;
  let connection: Connection;
  let signature: string;
  const payer = Keypair.generate();
  const recipient = Keypair.generate().publicKey;
  const [create, table] = AddressLookupTableProgram.createLookupTable({
    authority: payer.publicKey,
    payer: payer.publicKey,
    recentSlot: 0, // The only slot in litesvm's history.
  });
  const extend = AddressLookupTableProgram.extendLookupTable({
    authority: payer.publicKey,
    payer: payer.publicKey,
    lookupTable: table,
    addresses: [payer.publicKey, recipient],
  });
  const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: recipient, lamports: 5_000_000 });

  before(async () => {
    chain = await startSvmChain({ clock: { now: () => now } });
    chain.airdrop(payer.publicKey.toBase58(), 10n ** 9n);
    connection = new Connection(chain.url, "confirmed");
    await send([create, extend]);
    now += 1000; // A table's addresses can be used from the next slot on.
    const { data } = (await connection.getAccountInfo(table))!;
    const state = AddressLookupTableAccount.deserialize(data);
    signature = await send([transfer], [new AddressLookupTableAccount({ key: table, state })]);
  });
  after(() => chain.stop());

  const send = async (
    instructions: TransactionInstruction[],
    tables?: AddressLookupTableAccount[],
    skipPreflight = false,
  ): Promise<string> => {
    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions });
    const transaction = new VersionedTransaction(message.compileToV0Message(tables));
    transaction.sign([payer]);
    return connection.sendTransaction(transaction, { skipPreflight });
  };

  it("names the accounts that came from the table, and counts their lamports", async () => {
    const found = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(found!.meta!.loadedAddresses).to.deep.equal({ writable: [recipient], readonly: [] });
    expect(found!.transaction.message.addressTableLookups).to.have.lengthOf(1);
    expect(found!.meta).to.include({ fee: 5000 });
    expect(found!.meta!.postBalances.at(-1)).to.equal(5_000_000);
  });

  it("resolves them in parsed instructions", async () => {
    const found = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(found!.transaction.message.accountKeys.at(-1)).to.deep.include({
      pubkey: recipient,
      signer: false,
      writable: true,
      source: "lookupTable",
    });
    expect(found!.transaction.message.instructions[0]).to.have.deep.property("accounts", [payer.publicKey, recipient]);
  });

  it("is listed under an account that only the table names", async () => {
    const [listed] = await connection.getSignaturesForAddress(recipient);
    expect(listed).to.include({ signature, err: null });
  });

  it("leaves no trace when there is no such table", async () => {
    const missing = new AddressLookupTableAccount({
      key: Keypair.generate().publicKey,
      state: AddressLookupTableAccount.deserialize((await connection.getAccountInfo(table))!.data),
    });
    const refused = await send([transfer], [missing], true);
    expect(await connection.getTransaction(refused, { maxSupportedTransactionVersion: 0 })).to.equal(null);
  });
});
