import {
  type ConfirmedSignatureInfo,
  type Connection,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { expect } from "chai";
import type { PaymentRequirements } from "../../../runtime/core/x402/x402.ts";
import type { SolanaClient } from "../../../runtime/drivers/solana/client.ts";
import { createSolanaSettlements } from "../../../runtime/drivers/solana/settlements.ts";
import { searchMessage } from "../../../runtime/drivers/solana/settlements-search.ts";

const NOW = 1_800_000_000;
const HOUR = 60 * 60;
const SLOT = 400_000_000;
const MEMO = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
const MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const SELLER = Keypair.generate().publicKey.toBase58();
const never = new AbortController().signal;
const thrown = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (error: unknown) => error,
  );

/** A transaction with this memo, whose fee somebody else pays unless it is the payer's own. */
function toTransaction(payer: PublicKey, memo?: string, isOwn = false): VersionedTransaction {
  const data = Buffer.from(memo ?? "no memo");
  const programId = memo === undefined ? Keypair.generate().publicKey : MEMO;
  const keys = [{ pubkey: payer, isSigner: true, isWritable: true }];
  const draft = new TransactionMessage({
    payerKey: isOwn ? payer : Keypair.generate().publicKey,
    recentBlockhash: Keypair.generate().publicKey.toBase58(),
    instructions: [new TransactionInstruction({ programId, keys, data })],
  });
  return new VersionedTransaction(draft.compileToV0Message());
}

/** A node that holds these transactions of a payer, the newest first. */
interface Listed {
  readonly transaction: VersionedTransaction;
  readonly memo?: string | null;
  readonly slot?: number;
  readonly isLost?: boolean;
  readonly result?: object;
}

function openNode(payer: PublicKey, listed: readonly Listed[]) {
  const state = {
    ...{ lists: [] as (string | undefined)[], fetched: 0, atOnce: 0, most: 0 },
    ...{ isValid: [true, true], blockTime: Number.MAX_SAFE_INTEGER as number | null, slot: SLOT },
  };
  const node = {
    async getSignaturesForAddress(
      address: PublicKey,
      { limit, before, minContextSlot }: { limit: number; before?: string; minContextSlot: number },
    ) {
      expect(minContextSlot).to.equal(state.slot);
      if (!address.equals(payer)) return [];
      state.lists.push(before);
      const from = before === undefined ? 0 : Number(before) + 1;
      return listed.slice(from, from + limit).map(
        ({ memo = null, slot = SLOT }, at): Partial<ConfirmedSignatureInfo> => ({
          ...{ signature: String(from + at), memo, slot, blockTime: 1 }, // A time that no machine's clock would expect.
        }),
      );
    },
    async getTransaction(signature: string, config: object) {
      expect(config).to.deep.equal({ commitment: "confirmed", maxSupportedTransactionVersion: 1 });
      state.fetched += 1;
      state.atOnce += 1;
      state.most = Math.max(state.most, state.atOnce);
      await new Promise((done) => setImmediate(done));
      state.atOnce -= 1;
      const { transaction, isLost, result } = listed[Number(signature)] as Listed;
      if (isLost) return { meta: null };
      return { meta: { err: null }, transaction: { message: transaction.message, signatures: [signature] }, ...result };
    },
    isBlockhashValid: async (_blockhash: string, { commitment }: { commitment: string }) => ({
      context: { slot: commitment === "processed" ? state.slot + 32 : state.slot },
      value: state.isValid[commitment === "processed" ? 0 : 1],
    }),
    getBlockTime: async (slot: number) => {
      expect(slot).to.equal(state.slot);
      return state.blockTime;
    },
    getParsedTokenAccountsByOwner: async () => ({
      value: [3, 4].map((amount) => ({ account: { data: { parsed: { info: { tokenAmount: { amount } } } } } })),
    }),
  };
  return { node: node as unknown as Connection, state }; // As much of a connection as is used.
}

describe("the search for a message on Solana", () => {
  const payer = Keypair.generate().publicKey;
  const wanted = toTransaction(payer, "wanted");
  const others = (count: number, more: Partial<Listed> = {}): Listed[] =>
    Array.from({ length: count }, () => ({ transaction: other, ...more }));
  const other = toTransaction(payer, "other");
  const search = async (listed: readonly Listed[], since = SLOT - 1000, message = wanted.message) => {
    const { node, state } = openNode(payer, listed);
    const { landed, isComplete } = await searchMessage(node, message, { since, minContextSlot: SLOT });
    return { ...state, landed: landed?.transaction.signatures[0], isComplete };
  };

  it("looks among the transactions of the second signer, or of the only one", async () => {
    expect(await search([{ transaction: wanted }])).to.include({ landed: "0", isComplete: true });
    const own = toTransaction(payer, "own", true);
    expect(await search([{ transaction: own }], SLOT - 1000, own.message)).to.include({ landed: "0" });
  });

  it("fetches only what has the payment's memo, or may have it", async () => {
    const memos: Partial<Listed>[] = [{ memo: "[5] other" }, { memo: null }, { memo: "[6] wanted" }];
    expect(await search(memos.map((memo) => ({ transaction: other, ...memo })))).to.include({ fetched: 2 });
    const without = toTransaction(payer);
    expect(await search([{ transaction: other, memo: "x" }], SLOT - 1000, without.message)).to.include({ fetched: 1 });
  });

  it("goes back to the slot that is given", async () => {
    const since = SLOT - 1000;
    const slots = [since + 1, since, since - 1].map((slot) => ({ transaction: other, slot }));
    expect(await search(slots)).to.include({ fetched: 2, isComplete: true });
  });

  it("reads page after page until one is not full, or is older", async () => {
    const full = await search([...others(1000, { memo: "no" }), { transaction: wanted }]);
    expect(full).to.deep.include({ lists: [undefined, "999"], landed: "1000", isComplete: true });
    const older = await search([...others(999, { memo: "no" }), ...others(2, { slot: 1 })]);
    expect(older).to.deep.include({ lists: [undefined], landed: undefined, isComplete: true });
    const exact = await search(others(1000, { memo: "no" }));
    expect(exact).to.deep.include({ lists: [undefined, "999"], isComplete: true });
  });

  it("fetches ten at once, and 500 in all: beyond that it is not complete", async () => {
    const many = await search(others(499));
    expect(many).to.deep.include({ fetched: 499, most: 10, isComplete: true });
    const most = await search([...others(500), { transaction: wanted }]);
    expect(most).to.deep.include({ fetched: 500, landed: undefined, isComplete: false });
    const last = await search([...others(499), { transaction: wanted }, ...others(5)]);
    expect(last).to.deep.include({ fetched: 500, landed: "499", isComplete: true });
    const pages = await search([...others(300), ...others(700, { memo: "no" }), ...others(201)]);
    expect(pages).to.deep.include({ fetched: 500, isComplete: false });
  });

  it("says that it does not know where the node does not have what it lists", async () => {
    expect(await thrown(search([{ transaction: other, isLost: true }]))).to.be.an("error");
  });
});

describe("what became of a payment on Solana", () => {
  const payer = Keypair.generate().publicKey;
  const paid = toTransaction(payer, "wanted");
  const offer: PaymentRequirements = {
    ...{ scheme: "exact", network: "solana:x", asset: MINT, amount: "1000", payTo: SELLER, maxTimeoutSeconds: 300 },
    extra: {},
  };
  const payload = { transaction: Buffer.from(paid.serialize()).toString("base64") };
  let now: number;
  beforeEach(() => {
    now = NOW * 1000;
  });
  const open = (listed: readonly Listed[], more: object = {}) => {
    const { node, state } = openNode(payer, listed);
    const client = { ask: async (work: (node: Connection) => unknown) => work(node) } as unknown as SolanaClient;
    const reader = createSolanaSettlements({ client, clock: { now: () => now }, ...more });
    const find = () => reader.find({ x402Version: 2, accepted: offer, payload }, offer, never);
    return { state, reader, find };
  };
  const landed = (received: readonly [before: string, after: string], more: object = {}): Listed => {
    const [pre, post] = received.map((amount) => [{ mint: MINT, owner: SELLER, uiTokenAmount: { amount } }]);
    const meta = { err: null, preTokenBalances: pre, postTokenBalances: post, ...more };
    return { transaction: paid, result: { meta } };
  };

  it("is a settlement when the recipient holds the amount more, to the last unit", async () => {
    expect(await open([landed(["7", "1007"])]).find()).to.deep.equal({ state: "settled", transaction: "0" });
    expect(await open([landed(["7", "1006"])]).find()).to.deep.equal({ state: "dead" });
    expect(await open([landed(["0", "1000"], { err: {} })]).find()).to.deep.equal({ state: "dead" });
    const none = { preTokenBalances: null, postTokenBalances: undefined };
    expect(await open([landed(["0", "1000"], none)]).find()).to.deep.equal({ state: "dead" });
    for (const stranger of [{ owner: payer.toBase58() }, { mint: SELLER }]) {
      const account = { mint: MINT, owner: SELLER, uiTokenAmount: { amount: "1000" }, ...stranger };
      const elsewhere = { preTokenBalances: [], postTokenBalances: [account] };
      expect(await open([landed(["0", "0"], elsewhere)]).find()).to.deep.equal({ state: "dead" });
    }
  });

  it("is dead once its blockhash has been invalid for half a minute at both levels, and nothing has landed", async () => {
    const { state, find } = open([]);
    for (const isValid of [
      [true, true],
      [true, false],
      [false, true],
    ]) {
      state.isValid = isValid;
      now += 1_000_000;
      expect(await find()).to.deep.equal({ state: "open" });
    }
    state.isValid = [false, false];
    expect(await find()).to.deep.equal({ state: "open" });
    now += 29_999;
    expect(await find()).to.deep.equal({ state: "open" });
    now += 1;
    expect(await find()).to.deep.equal({ state: "dead" });
    state.isValid = [true, true];
    expect(await find(), "the node was wrong before").to.deep.equal({ state: "open" });
    state.isValid = [false, false];
    expect(await find()).to.deep.equal({ state: "open" });
  });

  it("is not dead while the node's blocks are older than the first look: it does not know the blockhash yet", async () => {
    const { state, find } = open([]);
    state.isValid = [false, false];
    expect(await find()).to.deep.equal({ state: "open" });
    now += HOUR * 1000;
    for (const blockTime of [null, NOW - 60, NOW - 3]) {
      state.blockTime = blockTime;
      expect(await find()).to.deep.equal({ state: "open" });
    }
    state.blockTime = NOW;
    expect(await find()).to.deep.equal({ state: "dead" });
  });

  it("is not dead where its payer has more transactions than can be looked through", async () => {
    const many = Array.from({ length: 501 }, (): Listed => ({ transaction: toTransaction(payer, "other") }));
    const { state, find } = open(many, { graceMs: 0 });
    expect(await find()).to.deep.equal({ state: "open" });
    state.isValid = [false, false];
    expect(await thrown(find())).to.have.property("code", "upstream-failed");
  });

  it("is looked for within 1000 slots before its blockhash was first seen to be valid, or within a day", async () => {
    const asked = async (slotsAgo: number, seenValid: boolean): Promise<string> => {
      now = NOW * 1000;
      const { state, find } = open([{ ...landed(["0", "1000"]), slot: SLOT - slotsAgo }], { graceMs: 0 });
      if (!seenValid) state.isValid = [false, false];
      return (await find()).state;
    };
    expect(await asked(1000, true)).to.equal("settled");
    expect(await asked(1001, true)).to.equal("open");
    const ofDay = (24 * HOUR * 1000) / 300;
    expect(await asked(ofDay, false)).to.equal("settled");
    expect(await asked(ofDay + 1, false)).to.equal("dead");
  });

  it("is looked for since it was first seen, however late it is asked about, for a day", async () => {
    const listed = [{ ...landed(["0", "1000"]), slot: SLOT - 1000 }];
    const first: Listed[] = [];
    const { node, state } = openNode(payer, first);
    const client = { ask: async (work: (node: Connection) => unknown) => work(node) } as unknown as SolanaClient;
    const reader = createSolanaSettlements({ client, clock: { now: () => now }, graceMs: 0 });
    const find = () => reader.find({ x402Version: 2, accepted: offer, payload }, offer, never);
    expect(await find()).to.deep.equal({ state: "open" });
    first.push(...listed);
    const pass = (hours: number): void => {
      now += hours * HOUR * 1000;
      state.slot += (hours * HOUR * 1000) / 400;
    };
    pass(20);
    expect(await find(), "valid again and again").to.include({ state: "settled" });
    state.isValid = [false, false];
    pass(20);
    expect(await find(), "invalid by now").to.include({ state: "settled" });
    pass(25);
    expect(await find(), "forgotten, and longer than a day ago").to.include({ state: "dead" });
  });

  it("cannot be told of what is no transaction", async () => {
    const { reader } = open([]);
    const none = { x402Version: 2 as const, accepted: offer, payload: { transaction: "AAAA" } };
    expect(await thrown(reader.find(none, offer, never))).to.have.property("code", "internal");
  });

  it("is preceded by a balance: all that the payer holds of the token", async () => {
    expect(await open([]).reader.balance(payer.toBase58(), offer, never)).to.equal(7n);
  });
});
