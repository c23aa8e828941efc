import { Connection, Keypair, PublicKey, Transaction, TransactionInstruction } from "@solana/web3.js";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { Facilitator } from "../../../runtime/core/x402/x402.ts";
import { withCheck } from "../../../runtime/drivers/facilitator/checked.ts";
import { createSolanaClient, type SolanaClient } from "../../../runtime/drivers/solana/client.ts";
import { TOKEN_PROGRAM } from "../../../runtime/drivers/solana/programs.ts";
import { findReceiverObstacle, tokenAccountOf } from "../../../runtime/drivers/solana/receiver.ts";
import { type SvmChain, startSvmChain } from "../../../runtime/sandbox/svm/chain.ts";
import { rail } from "../../support/chains/chains.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";

const { network, asset, symbol } = rail("solana");
const TOKEN = new PublicKey(TOKEN_PROGRAM);

/** SPL Token's `SetAuthority` of an account's owner. */
const toSetOwner = (account: PublicKey, owner: PublicKey, next: PublicKey): TransactionInstruction =>
  new TransactionInstruction({
    programId: TOKEN,
    keys: [
      { pubkey: account, isSigner: false, isWritable: true },
      { pubkey: owner, isSigner: true, isWritable: false },
    ],
    data: Buffer.from([6, 2, 1, ...next.toBytes()]),
  });

describe("a Solana receiving address", () => {
  let chain: SvmChain;
  before(async () => {
    chain = await startSvmChain();
    chain.putMint(asset, 6);
  });
  after(() => chain.stop());
  const receive = (payTo: string, url = chain.url, decimals = 6) => {
    const client = createSolanaClient({ url, network, retries: 0, timeoutMs: 20_000 });
    const receiver = { client, payTo, mint: asset, symbol, decimals };
    const { facilitator } = createScriptedRail({ network });
    return withCheck(facilitator, (signal) => findReceiverObstacle(receiver, signal), "closed");
  };
  const send = async (instruction: TransactionInstruction, payer: Keypair): Promise<void> => {
    const node = new Connection(chain.url, "confirmed");
    const { blockhash } = await node.getLatestBlockhash();
    const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash }).add(instruction);
    transaction.sign(payer);
    await node.sendRawTransaction(transaction.serialize());
  };
  const ask = (facilitator: Facilitator) => facilitator.supported(new AbortController().signal);

  it("without an account for the token keeps its rail down, and says what to do, until there is one", async () => {
    const payTo = Keypair.generate().publicKey.toBase58();
    const facilitator = receive(payTo);
    const refusal = await ask(facilitator).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(Problem).with.property("code", "unavailable");
    expect(refusal).to.have.property("message").that.contains(`${payTo} has no account for USDC`);
    const account = await tokenAccountOf(payTo, asset);
    chain.airdrop(account.toBase58(), 10n ** 9n);
    const same = await ask(facilitator).catch((error: unknown) => error);
    expect(same, "SOL was sent there").to.have.property("message", (refusal as Problem).message);
    chain.putTokenAccount(payTo, 0n);
    expect(await ask(facilitator)).to.have.length(1);
  });

  it("is not paid in an account that now belongs to somebody else, whom buyers would pay", async () => {
    const [seller, thief] = [Keypair.generate(), Keypair.generate()];
    const payTo = seller.publicKey.toBase58();
    const account = new PublicKey(chain.putTokenAccount(payTo, 0n));
    chain.airdrop(payTo, 10n ** 9n);
    const facilitator = receive(payTo);
    expect(await ask(facilitator), "before").to.have.length(1);
    await send(toSetOwner(account, seller.publicKey, thief.publicKey), seller);
    const refusal = await ask(facilitator).catch((error: unknown) => error);
    const message = `The account of ${payTo} for USDC on Solana was given to ${thief.publicKey}, who would get what is paid`;
    expect(refusal).to.include({ code: "unavailable", message });
  });

  it("is not taken for a wallet when it is a wallet's token account, from which nobody could take what is paid", async () => {
    const owner = Keypair.generate().publicKey.toBase58();
    const payTo = chain.putTokenAccount(owner, 0n);
    const message = `${payTo} is a token account of ${owner}: name the owner, since nobody could take what is paid to this`;
    expect(await ask(receive(payTo)).catch((error: unknown) => error)).to.include({ code: "unavailable", message });
    chain.putTokenAccount(payTo, 0n);
    const same = await ask(receive(payTo)).catch((error: unknown) => error);
    expect(same, "it has an account of its own").to.have.property("message", message);
  });

  it("is not paid in an account that is frozen", async () => {
    const payTo = Keypair.generate().publicKey;
    const data = Buffer.alloc(165);
    data.set(payTo.toBytes(), 32);
    data[108] = 2;
    const mint = { owner: TOKEN, data: Buffer.alloc(82, 6) };
    const node = {
      getAccountInfo: async (key: PublicKey) => (key.toBase58() === asset ? mint : { owner: TOKEN, data }),
    };
    const client = { ask: (work: (node: unknown) => unknown) => work(node) } as SolanaClient;
    const receiver = { client, payTo: payTo.toBase58(), mint: asset, symbol, decimals: 6 };
    const obstacle = await findReceiverObstacle(receiver, new AbortController().signal);
    expect(obstacle).to.equal(`The account of ${payTo} for USDC on Solana is frozen`);
  });

  it("may be a multisig of the token program, which the same program owns as it does accounts", async () => {
    const payTo = Keypair.generate().publicKey;
    const data = Buffer.alloc(165);
    data.set(payTo.toBytes(), 32);
    const sizes: Record<string, Buffer> = { [asset]: Buffer.alloc(82, 6), [payTo.toBase58()]: Buffer.alloc(355) };
    const node = {
      getAccountInfo: async (key: PublicKey) => ({ owner: TOKEN, data: sizes[key.toBase58()] ?? data }),
    };
    const client = { ask: (work: (node: unknown) => unknown) => work(node) } as SolanaClient;
    const receiver = { client, payTo: payTo.toBase58(), mint: asset, symbol, decimals: 6 };
    expect(await findReceiverObstacle(receiver, new AbortController().signal)).to.equal(undefined);
  });

  it("is not paid in a token with other decimals than the configuration says: every price would be another one", async () => {
    const payTo = Keypair.generate().publicKey.toBase58();
    chain.putTokenAccount(payTo, 0n);
    const refusal = await ask(receive(payTo, chain.url, 8)).catch((error: unknown) => error);
    const message = `${asset} has 6 decimals, but the configuration says 8`;
    expect(refusal).to.include({ code: "unavailable", message });
  });

  it("is not paid in a token of Token-2022, whose accounts are elsewhere, however often it is sent some", async () => {
    const owner = new PublicKey("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");
    const node = { getAccountInfo: async () => ({ owner, data: Buffer.alloc(82, 6) }) };
    const client = {
      ask: (work: (node: Connection) => unknown) => work(node as unknown as Connection),
    } as SolanaClient;
    const receiver = { client, payTo: Keypair.generate().publicKey.toBase58(), mint: asset, symbol, decimals: 6 };
    const obstacle = await findReceiverObstacle(receiver, new AbortController().signal);
    expect(obstacle).to.equal(`${asset} is a token of Token-2022, which payphone does not take`);
  });

  it("is taken at its word while the chain cannot be asked", async () => {
    expect(await ask(receive(Keypair.generate().publicKey.toBase58(), "http://127.0.0.1:1"))).to.have.length(1);
  });
});
