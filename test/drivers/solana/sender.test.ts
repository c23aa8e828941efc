import { base58 } from "@scure/base";
import { Connection, Keypair, PublicKey } from "@solana/web3.js";
import { expect } from "chai";
import type { Clock } from "../../../runtime/api/capabilities.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createSolanaClient, type SolanaClient } from "../../../runtime/drivers/solana/client.ts";
import {
  createSolanaSender,
  type SolanaInstruction,
  type SolanaSenderOptions,
} from "../../../runtime/drivers/solana/sender.ts";
import { createTreasury } from "../../../runtime/drivers/treasury.ts";
import { type SvmChain, startSvmChain } from "../../../runtime/sandbox/svm/chain.ts";
import { type RpcProxy, startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { thrown } from "../../support/thrown.ts";

const never = new AbortController().signal;
const MEMO = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
const memo = (text: string): SolanaInstruction => ({ program: MEMO, accounts: [], data: Buffer.from(text) });

describe("the Solana sender", () => {
  let chain: SvmChain;
  let proxy: RpcProxy;
  let treasury: ReturnType<typeof createTreasury>;
  let node: Connection;
  const store = createMemoryStore();

  before(async () => {
    chain = await startSvmChain();
    proxy = await startRpcProxy(chain.url);
    node = new Connection(chain.url, "confirmed");
  });
  after(async () => {
    await proxy.stop();
    await chain.stop();
  });
  beforeEach(() => {
    treasury = createTreasury({
      evmKey: `0x${"11".repeat(32)}`,
      solanaKey: base58.encode(Keypair.generate().secretKey),
    });
    chain.airdrop(treasury.solanaAddress, 10n ** 9n);
    proxy.calls.length = proxy.params.length = 0;
  });
  afterEach(() => {
    proxy.intervene(() => "pass");
    chain.release();
    chain.drop(0);
  });

  const open = () =>
    createSolanaClient({ url: proxy.url, network: chain.network, retries: 1, retryDelayMs: 5, timeoutMs: 5000 });

  const send = (text: string, signal = never, options: Partial<SolanaSenderOptions> = {}) =>
    createSolanaSender({
      client: open(),
      network: chain.network,
      store,
      treasury,
      clock: Date as Clock,
      log: silentLog,
      pollMs: 20,
      resendMs: 60,
      ...options,
    }).send([memo(text)], signal);

  /** The signatures of everything that the treasury has in the chain, the airdrop aside. */
  const history = async (): Promise<string[]> =>
    (await node.getSignaturesForAddress(new PublicKey(treasury.solanaAddress)))
      .map(({ signature }) => signature)
      .slice(0, -1);

  /** The bytes of every broadcast that came by, in order. */
  const broadcasts = (): unknown[] =>
    proxy.params
      .filter((_, index) => proxy.calls[index] === "sendTransaction")
      .map((params) => (params as unknown[])[0]);

  it("sends once what lands at once", async () => {
    const { signature } = await send("a memo");
    expect(await history()).to.deep.equal([signature]);
    const landed = await node.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(landed?.meta?.logMessages?.join("\n")).to.include("a memo");
    expect(broadcasts()).to.have.length(1);
  });

  it("sends the same bytes again while they are dropped, and never signs twice for them", async () => {
    chain.drop(3);
    const { signature } = await send("dropped thrice");
    expect(await history()).to.deep.equal([signature]);
    expect(broadcasts()).to.have.length(4);
    expect(new Set(broadcasts()).size).to.equal(1);
  });

  it("sends again after the clock was set back", async () => {
    chain.drop(1);
    let shift = 0;
    const sending = send("dropped", never, { clock: { now: () => Date.now() + shift }, resendMs: 1000 });
    await eventually(() => broadcasts().length === 1);
    shift = -3_600_000;
    const { signature } = await sending;
    expect(await history()).to.deep.equal([signature]);
  });

  it("waits for what lands late, and does not double it", async () => {
    chain.hold();
    const sending = send("late");
    await eventually(() => broadcasts().length > 2);
    chain.release();
    const { signature } = await sending;
    expect(await history()).to.deep.equal([signature]);
    expect(new Set(broadcasts()).size).to.equal(1);
  });

  it("signs anew only after the last valid block height has passed", async () => {
    chain.drop(1_000_000);
    const sending = send("expired");
    await eventually(() => broadcasts().length > 2);
    expect(new Set(broadcasts()).size).to.equal(1);
    chain.expireBlockhash();
    await eventually(() => new Set(broadcasts()).size > 1);
    chain.drop(0);
    const { signature } = await sending;
    expect(await history()).to.deep.equal([signature]);
    expect(new Set(broadcasts()).size).to.equal(2);
  });

  it("finds what landed in its last block, instead of signing anew", async () => {
    const client = open();
    proxy.intervene((method) => (method === "getSignatureStatuses" ? "lose" : "pass"));
    const sending = send("unseen", never, { client });
    await eventually(async () => (await history()).length > 0);
    chain.expireBlockhash();
    const asked = proxy.calls.length;
    await eventually(() => proxy.calls.slice(asked).filter((method) => method === "getSignatureStatuses").length > 2);
    proxy.intervene(() => "pass");
    const { signature } = await sending;
    expect(await history()).to.deep.equal([signature]);
    expect(new Set(broadcasts()).size).to.equal(1);
  });

  it("half of 40 sends dropped: each lands exactly once", async () => {
    let count = 0;
    proxy.intervene((method) => (method === "sendTransaction" && count++ % 2 === 0 ? "lose" : "pass"));
    const texts = Array.from({ length: 40 }, (_, index) => `memo ${index}`);
    const sent = await Promise.all(texts.map((text) => send(text)));
    expect(new Set(await history())).to.deep.equal(new Set(sent.map(({ signature }) => signature)));
    expect(await history()).to.have.length(40);
  });

  it("gives up after as many expiries as it may sign for", async () => {
    chain.drop(1_000_000);
    const sending = thrown(send("hopeless", never, { attempts: 2 }));
    const timer = setInterval(() => chain.expireBlockhash(), 30);
    const error = await sending;
    clearInterval(timer);
    expect(error).to.include({ code: "upstream-failed", message: "Solana let a transaction expire 2 times" });
    expect(await history()).to.deep.equal([]);
  });

  it("is not available without money for the fee, and sends nothing", async () => {
    treasury = createTreasury({
      evmKey: `0x${"11".repeat(32)}`,
      solanaKey: base58.encode(Keypair.generate().secretKey),
    });
    expect(await thrown(send("no money"))).to.include({ code: "unavailable" });
    expect(broadcasts()).to.deep.equal([]);
  });

  it("refuses what cannot succeed, and sends nothing", async () => {
    const client = open();
    const sender = createSolanaSender({
      client,
      network: chain.network,
      store,
      treasury,
      clock: Date as Clock,
      log: silentLog,
    });
    const broken: SolanaInstruction = { program: MEMO, accounts: [], data: Buffer.from([0xff]) };
    expect(await thrown(sender.send([broken], never))).to.include({
      code: "upstream-failed",
      message: "Solana refused a transaction",
    });
    expect(broadcasts()).to.deep.equal([]);
  });

  it("tells that what has landed has failed, and enters what it cost, also while the node does not show it", async () => {
    const { ask } = open();
    const err = { InstructionError: [2, "Custom"] };
    const status = { slot: 1, confirmations: 1, err, confirmationStatus: "confirmed" };
    const failing = {
      getSignatureStatuses: async () => ({ context: { slot: 1 }, value: [status] }),
      getTransaction: async () => null,
    };
    const client: SolanaClient = {
      ask: (work, signal) => ask((real) => work(Object.assign(Object.create(real), failing)), signal),
    };
    const error = await thrown(send("in vain", never, { client }));
    expect(error).to.include({ code: "upstream-failed", message: "A transaction failed on Solana" });
    expect([...(store.fees?.values() ?? [])].at(-1)).to.include({ amount: "7000", symbol: "SOL", isReverted: true });
  });

  it("ends with the caller's reason when the caller goes", async () => {
    chain.drop(1_000_000);
    const gone = new AbortController();
    const sending = thrown(send("left", gone.signal));
    await eventually(() => broadcasts().length > 0);
    gone.abort(new Error("gone"));
    expect(await sending).to.have.property("message", "gone");
  });
});
