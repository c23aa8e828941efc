import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { expect } from "chai";
import { type SvmChain, startSvmChain } from "../../../runtime/sandbox/svm/chain.ts";
import { toTokenAddress } from "../../../runtime/sandbox/svm/tokens.ts";
import { rail } from "../../support/chains/chains.ts";

const V0 = { maxSupportedTransactionVersion: 0 };
const MEMO = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");

describe("the history of the sandbox's Solana chain", () => {
  let chain: SvmChain;
  let connection: Connection;
  let signatures: string[];
  const payer = Keypair.generate();
  const text = "ab".repeat(32);

  before(async () => {
    chain = await startSvmChain();
    chain.airdrop(payer.publicKey.toBase58(), 10n ** 9n);
    connection = new Connection(chain.url, "confirmed");
    signatures = [];
    for (const word of [text, "2", "3", "4"])
      signatures.unshift(
        await send(new TransactionInstruction({ keys: [], programId: MEMO, data: Buffer.from(word) })),
      );
  });
  after(() => chain.stop());

  const send = async (...instructions: TransactionInstruction[]): Promise<string> => {
    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    transaction.sign([payer]);
    return connection.sendTransaction(transaction);
  };

  const ask = async (method: string, params: unknown[]): Promise<{ result?: unknown; error?: { code: number } }> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    return (await fetch(chain.url, { method: "POST", body })).json() as ReturnType<typeof ask>;
  };

  it("shows a transaction by its signature, with what it said", async () => {
    const found = await connection.getTransaction(signatures[3]!, V0);
    const { message } = found!.transaction;
    expect(message.staticAccountKeys[0]?.toBase58()).to.equal(payer.publicKey.toBase58());
    expect(Buffer.from(message.compiledInstructions[0]!.data).toString()).to.equal(text);
    expect(found!.meta).to.include({ err: null, fee: 5000 });
    expect(found!.meta!.logMessages!.join("\n")).to.include(text);
    expect(found!.blockTime).to.be.closeTo(Date.now() / 1000, 60);
  });

  it("shows it in every encoding that clients ask for", async () => {
    const [signature] = signatures;
    const parsed = await connection.getParsedTransaction(signature!, V0);
    expect(parsed!.transaction.message.accountKeys[0]).to.include({ signer: true, writable: true });
    expect(parsed!.transaction.message.instructions[0]!.programId.toBase58()).to.equal(MEMO.toBase58());
    for (const encoding of ["base64", "base58"]) {
      const { result } = await ask("getTransaction", [signature, { ...V0, encoding }]);
      expect(result).to.have.nested.property("transaction[1]", encoding);
    }
    const { result } = await ask("getTransaction", [signature, { ...V0, encoding: "base64" }]);
    const [bytes] = (result as { transaction: [string, string] }).transaction;
    const decoded = VersionedTransaction.deserialize(Buffer.from(bytes, "base64"));
    expect(decoded.message.recentBlockhash).to.equal(parsed!.transaction.message.recentBlockhash);
  });

  it("shows a version-0 transaction only to those who know that version", async () => {
    expect((await ask("getTransaction", [signatures[0]])).error?.code).to.equal(-32015);
  });

  it("knows nothing of a transaction that never came", async () => {
    const unknown = "1".repeat(88);
    expect((await ask("getTransaction", [unknown, V0])).result).to.equal(null);
    expect((await connection.getSignatureStatus(unknown)).value).to.equal(null);
  });

  it("lists an address's transactions, newest first, in pages", async () => {
    const list = async (options: object): Promise<string[]> =>
      (await connection.getSignaturesForAddress(payer.publicKey, options)).map(({ signature }) => signature);
    expect((await list({})).slice(0, 4)).to.deep.equal(signatures);
    expect(await list({ limit: 2 })).to.deep.equal(signatures.slice(0, 2));
    expect(await list({ limit: 2, before: signatures[1] })).to.deep.equal(signatures.slice(2, 4));
    expect(await list({ until: signatures[2] })).to.deep.equal(signatures.slice(0, 2));
    expect(await connection.getSignaturesForAddress(Keypair.generate().publicKey)).to.deep.equal([]);
  });

  it("shows what programs called in turn, and whose tokens moved", async () => {
    const mint = new PublicKey(rail("solana").asset);
    chain.putMint(mint.toBase58(), 6);
    const account = new PublicKey(toTokenAddress(mint.toBase58(), payer.publicKey.toBase58()));
    const keys = [payer.publicKey, account, payer.publicKey, mint, SystemProgram.programId, TOKEN].map((pubkey) => ({
      pubkey,
      isSigner: pubkey === payer.publicKey,
      isWritable: pubkey === payer.publicKey || pubkey === account,
    }));
    const signature = await send(new TransactionInstruction({ keys, programId: ASSOCIATED, data: Buffer.alloc(0) }));
    const found = await connection.getParsedTransaction(signature, V0);
    const [inner] = found!.meta!.innerInstructions!;
    expect(inner?.index).to.equal(0);
    expect(inner?.instructions.map(({ programId }) => programId.toBase58())).to.include.members([
      TOKEN.toBase58(),
      SystemProgram.programId.toBase58(),
    ]);
    expect(found!.meta!.preTokenBalances).to.deep.equal([]);
    expect(found!.meta!.postTokenBalances).to.have.lengthOf(1);
    expect(found!.meta!.postTokenBalances![0]).to.deep.include({
      mint: mint.toBase58(),
      owner: payer.publicKey.toBase58(),
      uiTokenAmount: { amount: "0", decimals: 6, uiAmount: 0, uiAmountString: "0" },
    });
  });

  it("answers batches, and tells malformed calls from unknown methods", async () => {
    const post = async (body: string): Promise<unknown> => (await fetch(chain.url, { method: "POST", body })).json();
    const batch = await post('[{"id":1,"method":"getHealth"},{"id":2,"method":"toString"}]');
    expect(batch).to.deep.equal([
      { jsonrpc: "2.0", id: 1, result: "ok" },
      { jsonrpc: "2.0", id: 2, error: { code: -32601, message: "Method not found" } },
    ]);
    expect(await post("{")).to.have.nested.property("error.code", -32700);
    expect(await post("null")).to.have.nested.property("error.code", -32601);
    expect((await ask("getBalance", ["zz"])).error?.code).to.equal(-32602);
    expect((await ask("sendTransaction", ["AQ==", { encoding: "base64" }])).error?.code).to.equal(-32602);
    expect((await ask("getTokenAccountBalance", [payer.publicKey.toBase58()])).error?.code).to.equal(-32602);
  });
});

const TOKEN = new PublicKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
const ASSOCIATED = new PublicKey("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
