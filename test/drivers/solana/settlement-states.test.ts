import { type Connection, Keypair, PublicKey } from "@solana/web3.js";
import { expect } from "chai";
import type { PaymentRequirements } from "../../../runtime/core/x402/x402.ts";
import type { SolanaClient } from "../../../runtime/drivers/solana/client.ts";
import { createSolanaSettlements, forgetOld } from "../../../runtime/drivers/solana/settlements.ts";
import { thrown } from "../../support/thrown.ts";
import { HOUR, type Listed, MINT, NOW, never, openNode, SELLER, SLOT, toTransaction } from "./listing-node.ts";

describe("what became of a payment on Solana", () => {
  const payer = Keypair.generate().publicKey;
  const paid = toTransaction(payer, "wanted");
  const offer: PaymentRequirements = {
    scheme: "exact",
    network: "solana:x",
    asset: MINT,
    amount: "1000",
    payTo: SELLER,
    maxTimeoutSeconds: 300,
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
    const find = (reported?: string) =>
      reader.find({ x402Version: 2, accepted: offer, payload }, offer, never, reported);
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

  it("is dead once its blockhash has been invalid for two minutes at both levels, and nothing has landed", async () => {
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
    now += 119_999;
    expect(await find()).to.deep.equal({ state: "open" });
    now += 1;
    expect(await find()).to.deep.equal({ state: "dead" });
    state.isValid = [true, true];
    expect(await find(), "the node was wrong before").to.deep.equal({ state: "open" });
    state.isValid = [false, false];
    expect(await find()).to.deep.equal({ state: "open" });
  });

  it("is not open for longer because the clock was set back", async () => {
    const { state, find } = open([]);
    state.isValid = [false, false];
    expect(await find()).to.deep.equal({ state: "open" });
    now -= HOUR * 1000;
    expect(await find()).to.deep.equal({ state: "open" });
    now += 120_000;
    expect(await find()).to.deep.equal({ state: "dead" });
  });

  it("is not dead sooner because the clock was set forward: a node may list late what has landed", async () => {
    let awake = 0;
    const { state, find } = open([], { awake: () => awake });
    state.isValid = [false, false];
    expect(await find()).to.deep.equal({ state: "open" });
    now += HOUR * 1000;
    awake += 119_999;
    expect(await find()).to.deep.equal({ state: "open" });
    awake += 1;
    expect(await find()).to.deep.equal({ state: "dead" });
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

  it("is not known before all transactions of its payer were looked through, 500 each time", async () => {
    const many = Array.from({ length: 501 }, (): Listed => ({ transaction: toTransaction(payer, "other") }));
    const { state, find } = open(many, { graceMs: 0 });
    state.isValid = [false, false];
    expect(await thrown(find())).to.have.property("code", "upstream-failed");
    expect(await find()).to.deep.equal({ state: "dead" });
  });

  it("is looked up first where the facilitator says that it is, which need not be true", async () => {
    const many = Array.from({ length: 501 }, (): Listed => ({ transaction: toTransaction(payer, "other") }));
    const { state, find } = open([...many, landed(["0", "1000"])]);
    expect(await find("501")).to.deep.equal({ state: "settled", transaction: "501" });
    expect(state.fetched).to.equal(1);
    expect(await thrown(find("7")), "another payment").to.have.property("code", "upstream-failed");
    const lost = open([{ ...landed(["0", "1000"]), isLost: true }]);
    expect(await thrown(lost.find("0")))
      .to.have.property("message")
      .that.matches(/does not have transaction 0/);
    const { find: search } = open([landed(["0", "1000"])]);
    expect(await search("no signature")).to.deep.equal({ state: "settled", transaction: "0" });
  });

  it("is dead where the transaction that the facilitator names has failed, or has moved less", async () => {
    expect(await open([landed(["0", "1000"], { err: {} })]).find("0")).to.deep.equal({ state: "dead" });
    expect(await open([landed(["7", "1006"])]).find("0")).to.deep.equal({ state: "dead" });
  });

  it("is looked for within 1000 slots before its blockhash was first seen to be valid, or within a day", async () => {
    const asked = async (slotsAgo: number, seenValid: boolean, reported?: string): Promise<string> => {
      now = NOW * 1000;
      const { state, find } = open([{ ...landed(["0", "1000"]), slot: SLOT - slotsAgo }], { graceMs: 0 });
      if (!seenValid) state.isValid = [false, false];
      return (await find(reported)).state;
    };
    expect(await asked(1000, true)).to.equal("settled");
    expect(await asked(1001, true)).to.equal("open");
    const ofDay = (24 * HOUR * 1000) / 300;
    expect(await asked(ofDay, false)).to.equal("settled");
    expect(await asked(ofDay + 1, false)).to.equal("dead");
    expect(await asked(ofDay + 1, false, "0"), "by its name, for a shop that stood still").to.equal("settled");
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

  it("is preceded by a balance: all that the payer holds of the token, or what one account holds", async () => {
    const { state, reader } = open([]);
    expect(await reader.balance(payer.toBase58(), offer, never)).to.equal(7n);
    const data = Buffer.alloc(165);
    data.writeBigUInt64LE(5n, 64);
    state.account = { owner: new PublicKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"), data };
    expect(await reader.balance(payer.toBase58(), offer, never), "of a token account").to.equal(5n);
    const [owner, delegate, other] = [1, 2, 3].map((fill) => new PublicKey(Buffer.alloc(32, fill)));
    data.set(owner!.toBuffer(), 32);
    const [approved, allowed] = [Buffer.concat([Buffer.of(1, 0, 0, 0), delegate!.toBuffer()]), Buffer.alloc(8)];
    const spendable = (signer?: PublicKey) =>
      reader.balance(payer.toBase58(), offer, never, (signer as PublicKey).toBase58());
    for (const allowance of [3n, 9n]) {
      allowed.writeBigUInt64LE(allowance);
      data.set(approved, 72);
      data.set(allowed, 121);
      expect([await spendable(owner), await spendable(other)], "of an owner, and of a stranger").to.deep.equal([
        5n,
        0n,
      ]);
      expect(await spendable(delegate), `of a delegate who may spend ${allowance}`).to.equal(allowance < 5n ? 3n : 5n);
    }
    data.fill(0, 72, 76);
    expect(await spendable(delegate), "of a delegate no more").to.equal(0n);
  });
});

describe("what was seen of blockhashes on Solana", () => {
  const DAY = 24 * HOUR * 1000;

  /** Counts the entries that are looked at. */
  class Watched extends Map<string, { readonly seenAt: number }> {
    looks = 0;
    override *[Symbol.iterator](): MapIterator<[string, { readonly seenAt: number }]> {
      for (const entry of super.entries()) {
        this.looks += 1;
        yield entry;
      }
    }
  }

  it("is forgotten after a day, without a look at all that is kept: each payment adds one", () => {
    const ahead = { seenAt: 400 * DAY }; // By a clock that was set back since.
    const old = Array.from({ length: 3 }, (_, at): [string, { seenAt: number }] => [`old ${at}`, { seenAt: at }]);
    const kept = Array.from({ length: 100 }, (_, at): [string, { seenAt: number }] => [
      `${at}`,
      { seenAt: 3 * DAY + at },
    ]);
    const sightings = new Watched([["ahead", ahead], ...old, ...kept]);
    forgetOld(sightings, 4 * DAY);
    expect([...sightings.keys()]).to.deep.equal(kept.map(([name]) => name));
    expect(sightings.looks).to.equal(5);
  });
});
