import {
  AddressLookupTableAccount,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { createExposure, type Exposure, type UnsettledCall } from "../../../runtime/core/payments/exposure.ts";
import type { PaymentRecord } from "../../../runtime/core/payments/record.ts";
import { createStanding } from "../../../runtime/core/payments/standing.ts";
import { createScriptedRail, type ScriptedRail } from "../../support/chains/scripted-rail.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const PAYER = "0xAbCdEf0000000000000000000000000000000001";
const NETWORK = "eip155:8453";

/** A payload of SPL Token's TransferChecked. @param isInTable whether an address table holds the source */
function toTransfer(source: PublicKey, authority: PublicKey, isInTable = false): { readonly transaction: string } {
  const keys = [source, PublicKey.default, PublicKey.default, authority].map((pubkey, at) => {
    return { pubkey, isSigner: at === 3, isWritable: at === 0 };
  });
  const programId = new PublicKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
  const instructions = [new TransactionInstruction({ programId, keys, data: Buffer.alloc(10, 12) })];
  const [payerKey, recentBlockhash] = [Keypair.generate().publicKey, PublicKey.default.toBase58()];
  const state = { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 };
  const table = new AddressLookupTableAccount({ key: programId, state: { ...state, addresses: [source] } });
  const whole = new TransactionMessage({ payerKey, recentBlockhash, instructions });
  const message = whole.compileToV0Message(isInTable ? [table] : []);
  return { transaction: Buffer.from(new VersionedTransaction(message).serialize()).toString("base64") };
}

describe("what a payer has in flight", () => {
  let time: FrozenTime;
  let rail: ScriptedRail;
  let exposure: Exposure;
  let held: bigint;
  let nonce = 0;
  /** Ends all calls that were begun. */
  let end: () => void;
  let ended: Promise<void>;
  beforeEach(() => {
    time = freezeTime();
    open(6);
  });
  afterEach(() => time.thaw());

  function open(decimals: number, mostCalls = 64): void {
    rail = createScriptedRail({ decimals });
    held = 10n ** 24n;
    rail.script.balance = () => held;
    const fail = (error: unknown): never => expect.fail(String(error));
    exposure = createExposure({ rails: [rail], store: createMemoryStore(), clock: Date, mostCalls, onError: fail });
    ({ promise: ended, resolve: end } = Promise.withResolvers<void>());
  }
  const toCall = (amount: string, more: Partial<UnsettledCall> = {}): UnsettledCall => ({
    key: String(++nonce),
    payer: PAYER,
    payment: { authorization: {}, payload: {} } as UnsettledCall["payment"],
    lifeMs: 60_000,
    offer: { scheme: "exact", network: NETWORK, asset: "0x1", amount, payTo: "0x2", maxTimeoutSeconds: 300, extra: {} },
    ...more,
  });
  /** Begins a call: how it ended, unless it goes on. */
  const begin = async (amount: string, more?: Partial<UnsettledCall>): Promise<string> => {
    const call = exposure.during(toCall(amount, more), async () => {
      await ended;
      return "done";
    });
    const failed = call.then(
      () => "done",
      (error: Problem) => `${error.code} ${error.options.retryAfter}`,
    );
    await time.pass(1);
    return Promise.race([failed, time.pass(1).then(() => "in flight")]);
  };

  it("costs together at most what the payer holds, to the last unit", async () => {
    held = 3000n;
    expect(await begin("1000")).to.equal("in flight");
    expect(await begin("2000")).to.equal("in flight");
    expect(await begin("1")).to.equal("rate-limited 2");
    held = 0n;
    end();
  });

  it("counts what was settled late against a balance that was read before", async () => {
    held = 3000n;
    const late = toCall("1000");
    const unknown = new Problem("settlement-unknown");
    await exposure.during(late, () => Promise.reject(unknown)).catch(() => {});
    expect(await begin("1000")).to.equal("in flight"); // The balance is read.
    exposure.spentLate(late);
    expect(await begin("1000")).to.equal("in flight");
    expect(await begin("1000")).to.equal("rate-limited 2");
  });

  it("is read at most every three seconds for a payer", async () => {
    await begin("1");
    await begin("1");
    const at = performance.now();
    await begin("1");
    time.stall(3000 - (performance.now() - at));
    expect(rail.asked.balance).to.equal(1);
    time.stall(10);
    await begin("1");
    expect(rail.asked.balance).to.equal(2);
  });

  it("counts what was settled since the balance was read against it", async () => {
    held = 3000n;
    await begin("1000");
    await begin("1000");
    exposure.spent(toCall("1000"));
    expect(await begin("1"), "2001 of 3000 - 1000").to.equal("rate-limited 2");
    exposure.spent(toCall("1000", { payer: "0x99" }));
  });

  it("is one account's, however its address is written, and each asset's alone", async () => {
    held = 1000n;
    expect(await begin("1000")).to.equal("in flight");
    expect(await begin("1", { payer: PAYER.toLowerCase() })).to.equal("rate-limited 2");
    expect(await begin("1000", { offer: { ...toCall("1000").offer, asset: "0x9" } })).to.equal("in flight");
    expect(await begin("1000", { payer: "0x99" })).to.equal("in flight");
  });

  /** Begins a call that a signer pays from a token account on Solana. */
  const beginBy = (account: PublicKey, signer: PublicKey, amount = "1000", isInTable = false): Promise<string> => {
    const payment = { ...toCall("1").payment, payload: toTransfer(account, signer, isInTable) };
    return begin(amount, { payer: signer.toBase58(), payment });
  };
  const keys = (): PublicKey[] => [1, 2, 3].map(() => Keypair.generate().publicKey);

  it("is that of the token account that pays on Solana, whoever has signed", async () => {
    const [account, ...signers] = keys();
    const asked: string[] = [];
    rail.script.balance = (holder) => {
      asked.push(holder);
      return 2000n;
    };
    const begun: string[] = [];
    for (const signer of [...signers, ...signers]) begun.push(await beginBy(account!, signer));
    expect(begun).to.deep.equal(["in flight", "in flight", "rate-limited 2", "rate-limited 2"]);
    expect(new Set(asked)).to.deep.equal(new Set([account!.toBase58()]));
  });

  it("is no more than what the signer may spend of that token account", async () => {
    const [account, owner, delegate] = keys() as [PublicKey, PublicKey, PublicKey];
    rail.script.balance = (_holder, _offer, signer) => (signer === owner.toBase58() ? 9000n : 2500n);
    const begun: string[] = [];
    for (const signer of [owner, delegate, delegate, owner]) begun.push(await beginBy(account, signer));
    expect(begun).to.deep.equal(["in flight", "in flight", "rate-limited 2", "in flight"]);
    expect(rail.asked.balance, "once for each signer").to.equal(2);
  });

  it("is one call alone where a transaction on Solana does not tell which account pays", async () => {
    const [account, signer] = keys() as [PublicKey, PublicKey];
    const blind = (): Promise<string> => beginBy(account, signer, "1", true);
    expect([await blind(), await blind()]).to.deep.equal(["in flight", "rate-limited 2"]);
  });

  it("is rounded up, and the balance down, where a token has more than six decimals", async () => {
    open(18);
    held = 3n * 10n ** 12n - 1n; // Not quite three millionths.
    expect(await begin("1")).to.equal("in flight");
    expect(await begin("1000000000000")).to.equal("in flight");
    expect(await begin("1")).to.equal("rate-limited 2");
    end();
    await time.pass(10);
    open(18);
    held = 2n * 10n ** 12n;
    expect(await begin("1000000000001"), "two millionths").to.equal("in flight");
    expect(await begin("1")).to.equal("rate-limited 2");
  });

  it("is exact where a token has fewer than six decimals", async () => {
    open(2);
    held = 3n;
    expect(await begin("1")).to.equal("in flight");
    expect(await begin("2")).to.equal("in flight");
    expect(await begin("1")).to.equal("rate-limited 2");
  });

  it("has no sum that loses units, however large its amounts are", async () => {
    for (const decimals of [2, 6, 18]) {
      open(decimals);
      held = 10n ** 60n;
      expect(await begin(String(10n ** 50n))).to.equal("in flight");
      expect(await begin("1"), "no balance covers more than is counted exactly").to.equal("rate-limited 2");
    }
  });

  it("is not added to while the balance cannot be read, and is read again at the next call", async () => {
    rail.script.balance = () => Promise.reject(new Error("the node is away"));
    expect(await begin("1")).to.equal("in flight");
    expect(await begin("1")).to.equal("unavailable 2");
    rail.script.balance = () => 100n;
    expect(await begin("1")).to.equal("in flight");
    expect(rail.asked.balance).to.equal(2);
  });

  it("is at most so many calls, and leaves when it ends, unless its outcome is not known", async () => {
    open(6, 2);
    const failing = (error: Error): Promise<unknown> =>
      exposure.during(toCall("1"), () => Promise.reject(error)).catch((caught: unknown) => caught);
    for (const error of [new Error("no"), new Problem("upstream-failed"), new Problem("deadline-exceeded")])
      expect(await failing(error)).to.equal(error);
    expect(await exposure.during(toCall("1"), async () => 7)).to.equal(7);
    await failing(new Problem("settlement-unknown"));
    expect(await begin("1"), "the second").to.equal("in flight");
    expect(await begin("1"), "the third").to.equal("rate-limited 2");
  });
});

describe("a payment that was refused late", () => {
  it("makes its payer pay first where work was done for it, and not where a job had yet to begin", async () => {
    const standing = createStanding(createMemoryStore());
    const record = { payer: PAYER, payment: { accepted: { network: NETWORK } } } as unknown as PaymentRecord;
    for (const unpaid of [{}, { output: {}, job: "job" }]) await standing.refusedLate({ ...record, ...unpaid });
    const name = `${NETWORK}:${PAYER.toLowerCase()}`;
    expect(await standing.paysFirst(name, "roll")).to.equal(false);
    await standing.refusedLate({ ...record, output: {} });
    expect(await standing.paysFirst(name, "roll")).to.equal(true);
  });
});

describe("a payment that was refused after the work", () => {
  const SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:Buyer1";
  for (const [what, payer, seconds, others] of [
    ["makes its payer pay first, whatever is bought next", SOLANA, 20, true],
    ["makes its payer pay first for a service that takes longer than payments on Solana live", SOLANA, 40, false],
    ["does so for all services on EVM, where payments that would run out are not taken", `${NETWORK}:0x1`, 40, true],
  ] as const)
    it(what, async () => {
      const standing = createStanding(createMemoryStore());
      await standing.noteRefused(payer, "slow", seconds * 1000);
      expect(await standing.paysFirst(payer, "slow")).to.equal(true);
      expect(await standing.paysFirst(payer, "roll")).to.equal(others);
      const late = createStanding(createMemoryStore());
      const payment = { accepted: { network: payer.slice(0, payer.lastIndexOf(":")) } };
      const sold = { course: { begun: 0, verified: 5000, worked: 5000 + seconds * 1000 } };
      const of = { payer: payer.slice(payer.lastIndexOf(":") + 1), service: "slow", output: {} };
      await late.refusedLate({ ...of, payment, sold } as unknown as PaymentRecord);
      expect(await late.paysFirst(payer, "slow"), "once its outcome is known").to.equal(true);
      expect(await late.paysFirst(payer, "roll"), "once its outcome is known").to.equal(others);
    });
});
