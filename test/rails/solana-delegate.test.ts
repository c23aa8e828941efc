import { createKeyPairSignerFromBytes } from "@solana/kit";
import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  type VersionedMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { x402Client } from "@x402/core/client";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { expect } from "chai";
import { loadSet } from "../../runtime/cli/set/load.ts";
import { TOKEN_PROGRAM } from "../../runtime/drivers/solana/programs.ts";
import { tokenAccountOf } from "../../runtime/drivers/solana/receiver.ts";
import { makeDirectory, TOSS } from "../core/set/served-directory.ts";
import { rail, sharedSandbox, type TestSandbox } from "../support/chains/chains.ts";
import { eventually } from "../support/eventually.ts";
import { type LocalSeller, startLocalSeller } from "../support/sellers/local-seller.ts";
import { json, signFor } from "../support/sellers/stock-buyer.ts";

const { network, asset: mint } = rail("solana");

/** SPL Token's `Approve`. */
const toApproval = (
  account: PublicKey,
  owner: PublicKey,
  delegate: PublicKey,
  amount: bigint,
): TransactionInstruction => {
  const data = Buffer.alloc(9, 4);
  data.writeBigUInt64LE(amount, 1);
  const keys = [account, delegate, owner].map((pubkey) => ({
    pubkey,
    isSigner: pubkey === owner,
    isWritable: pubkey === account,
  }));
  return new TransactionInstruction({ programId: new PublicKey(TOKEN_PROGRAM), keys, data });
};

/** Makes a payment look like another one. */
interface Disguise {
  /** @returns who must sign, beside the delegate */
  prepare(node: Connection, delegate: Keypair): Promise<Keypair[]>;
  apply(message: VersionedMessage, others: readonly Keypair[]): void;
}

/**
 * The transfer has a byte more than it needs, which SPL Token ignores, and the memo the bytes and accounts of a transfer. A
 * memo's accounts must sign: an account for tokens can, where it has a key of its own.
 */
const AS_OWN: Disguise = {
  async prepare(node, delegate) {
    const account = Keypair.generate();
    const [space, programId] = [165, new PublicKey(TOKEN_PROGRAM)];
    const [fromPubkey, newAccountPubkey] = [delegate.publicKey, account.publicKey];
    const lamports = await node.getMinimumBalanceForRentExemption(space);
    const data = Buffer.concat([Buffer.of(18), fromPubkey.toBuffer()]); // InitializeAccount3
    const keys = [newAccountPubkey, new PublicKey(mint)].map((pubkey, at) => ({
      pubkey,
      isSigner: false,
      isWritable: at === 0,
    }));
    const opening = new Transaction()
      .add(SystemProgram.createAccount({ fromPubkey, newAccountPubkey, lamports, space, programId }))
      .add(new TransactionInstruction({ programId, keys, data }));
    opening.recentBlockhash = (await node.getLatestBlockhash()).blockhash;
    opening.sign(delegate, account);
    const opened = await node.sendRawTransaction(opening.serialize());
    await eventually(async () => (await node.getSignatureStatuses([opened])).value[0]?.confirmationStatus);
    return [account];
  },
  apply(message, [account]) {
    const { staticAccountKeys: keys, compiledInstructions: instructions, header } = message;
    for (const instruction of instructions) {
      instruction.programIdIndex += 1;
      instruction.accountKeyIndexes = instruction.accountKeyIndexes.map((at) => (at > 1 ? at + 1 : at));
    }
    keys.splice(2, 0, account!.publicKey);
    header.numRequiredSignatures += 1;
    header.numReadonlySignedAccounts += 1;
    const [, , transfer, memo] = instructions;
    memo!.data = transfer!.data;
    memo!.accountKeyIndexes = [2, 1, 1, 1];
    transfer!.data = Uint8Array.from([...transfer!.data, 0]);
  },
};

describe("a payment on Solana that a delegate has signed", () => {
  const [denied, welcome] = [Keypair.generate(), Keypair.generate()];
  let sandbox: TestSandbox;
  let seller: LocalSeller;
  before(async () => {
    sandbox = await sharedSandbox();
    const site = `${TOSS["manifests/_site.yaml"]}deny: ["${denied.publicKey.toBase58()}"]\n`;
    const set = await loadSet(await makeDirectory({ ...TOSS, "manifests/_site.yaml": site }));
    seller = await startLocalSeller({ sandbox, set });
  });
  after(() => seller?.stop());

  /** Buys with an owner's tokens, which a new delegate may spend. @returns the status, and what the owner has left */
  async function buyFor(owner: Keypair, disguise?: Disguise): Promise<[status: number, left: bigint]> {
    const [status = 0] = await buyAll(owner, 1, disguise);
    return [status, sandbox.solana.tokenBalance(owner.publicKey.toBase58())];
  }

  /** Buys so many times at once. @param held what the owner has @param allowed the delegate @returns the statuses */
  async function buyAll(
    owner: Keypair,
    times: number,
    disguise?: Disguise,
    held = 20_000n,
    allowed = held,
  ): Promise<number[]> {
    const delegate = Keypair.generate();
    const [ownerAt, delegateAt] = [owner, delegate].map(({ publicKey }) => publicKey.toBase58()) as [string, string];
    const [account, other] = await Promise.all([tokenAccountOf(ownerAt, mint), tokenAccountOf(delegateAt, mint)]);
    sandbox.solana.putTokenAccount(ownerAt, held);
    for (const one of [ownerAt, delegateAt]) sandbox.solana.airdrop(one, 10n ** 9n);
    const node = new Connection(sandbox.solana.url, "confirmed");
    const approval = new Transaction().add(toApproval(account, owner.publicKey, delegate.publicKey, allowed));
    approval.recentBlockhash = (await node.getLatestBlockhash()).blockhash;
    approval.sign(owner);
    const approved = await node.sendRawTransaction(approval.serialize());
    await eventually(async () => (await node.getSignatureStatuses([approved])).value[0]?.confirmationStatus);
    const scheme = new ExactSvmScheme(await createKeyPairSignerFromBytes(delegate.secretKey), {
      rpcUrl: sandbox.solana.url,
    });
    const others = (await disguise?.prepare(node, delegate)) ?? [];
    const client = new x402Client()
      .register(network as `solana:${string}`, scheme)
      .registerPolicy((_version, offers) => offers.filter((offer) => offer.network === network));
    const url = `${seller.url}/v1/toss`;
    const sign = async (): ReturnType<typeof signFor> =>
      signFor(client, await fetch(url, json({})), (signed) => {
        const transaction = VersionedTransaction.deserialize(Buffer.from(String(signed.payload.transaction), "base64"));
        const { staticAccountKeys: keys } = transaction.message;
        keys[keys.findIndex((key) => key.equals(other))] = account;
        if (disguise) transaction.signatures.push(new Uint8Array(64));
        disguise?.apply(transaction.message, others);
        transaction.sign([delegate, ...others]);
        return { ...signed, payload: { transaction: Buffer.from(transaction.serialize()).toString("base64") } };
      });
    const payments = await Promise.all(Array.from({ length: times }, sign));
    return Promise.all(payments.map(async (payment) => (await fetch(url, json({}, payment))).status));
  }

  it("is refused where the owner of the tokens is denied, and taken otherwise", async () => {
    expect(await buyFor(denied)).to.deep.equal([403, 20_000n]);
    expect(await buyFor(welcome)).to.deep.equal([200, 10_000n]);
  });

  it("is counted against what the owner has while others are in flight: the delegate has nothing", async () => {
    expect(await buyAll(welcome, 2, undefined, 100_000n)).to.deep.equal([200, 200]);
  });

  it("is counted against what the owner has approved, where that is less", async () => {
    const all = await buyAll(welcome, 4, undefined, 100_000n, 20_000n);
    expect(all, "402 would be work that nobody can pay").to.include.members([200, 429]).and.not.to.include(402);
  });

  it("is refused so, too, where its memo looks like a transfer of the delegate's own tokens", async () => {
    expect(await buyFor(denied, AS_OWN)).to.deep.equal([403, 20_000n]);
    expect(await buyFor(welcome, AS_OWN)).to.deep.equal([200, 10_000n]);
  });
});
