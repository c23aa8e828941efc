import { randomBytes } from "node:crypto";
import { base58 } from "@scure/base";
import { Connection, Keypair } from "@solana/web3.js";
import { expect } from "chai";
import { toHex } from "viem";
import type { Clock, Hex } from "../../runtime/api/capabilities.ts";
import { readConfig } from "../../runtime/cli/config/config.ts";
import { feeAccounts } from "../../runtime/cli/monitor/treasury.ts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import { createAnchor } from "../../runtime/drivers/anchor.ts";
import { createEvmClient } from "../../runtime/drivers/evm/client.ts";
import { createEvmReads } from "../../runtime/drivers/evm/reads.ts";
import { createEvmSender, type EvmSender } from "../../runtime/drivers/evm/sender/sender.ts";
import { createSolanaClient } from "../../runtime/drivers/solana/client.ts";
import { MEMO_PROGRAM } from "../../runtime/drivers/solana/programs.ts";
import { createSolanaSender } from "../../runtime/drivers/solana/sender.ts";
import { createTreasury } from "../../runtime/drivers/treasury.ts";
import { type EvmChain, startEvmChain } from "../../runtime/sandbox/evm/chain.ts";
import { type SvmChain, startSvmChain } from "../../runtime/sandbox/svm/chain.ts";
import { rail, site } from "../support/chains/chains.ts";
import { type RpcProxy, startRpcProxy } from "../support/chains/rpc-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";
import { thrown } from "../support/thrown.ts";

const never = new AbortController().signal;

describe("an anchor", () => {
  const treasury = createTreasury({
    evmKey: `0x${randomBytes(32).toString("hex")}`,
    solanaKey: base58.encode(Keypair.generate().secretKey),
  });
  let base: EvmChain;
  let solana: SvmChain;
  let toBase: RpcProxy;
  let evmSender: EvmSender | undefined;
  let store: ReturnType<typeof createMemoryStore>;

  before(async () => {
    [base, solana] = await Promise.all([startEvmChain({ chainId: 8453 }), startSvmChain()]);
    toBase = await startRpcProxy(base.url);
    await base.setBalance(await treasury.evmAddress(), 10n ** 18n);
    solana.airdrop(treasury.solanaAddress, 10n ** 9n);
  });
  after(async () => {
    await toBase.stop();
    await Promise.all([base.stop(), solana.stop()]);
  });
  afterEach(() => {
    evmSender?.close();
    toBase.intervene(() => "pass");
    solana.drop(0);
  });

  function open({ solanaMs = 45_000, includeMs = 45_000, clock = Date as Clock } = {}) {
    const client = createEvmClient({ url: toBase.url, chainId: 8453, retries: 0 });
    store = createMemoryStore();
    const shared = { treasury, store, clock, log: silentLog, pollMs: 25 };
    evmSender = createEvmSender({
      ...shared,
      client,
      feeCapWei: 10n ** 16n,
      includeMs,
    });
    const svm = createSolanaClient({ url: solana.url, network: solana.network });
    const solanaSender = createSolanaSender({ ...shared, client: svm, network: solana.network });
    const explorers = { base: "https://basescan.org/tx/{tx}", solana: "https://solscan.io/tx/{tx}" };
    return createAnchor({ client, evmSender, solanaSender, treasury, explorers, log: silentLog, solanaMs });
  }

  it("stands on both chains: as calldata of the treasury to itself, and as a memo that the treasury signed", async () => {
    const hash = randomBytes(32).toString("hex");
    const before = Math.floor(Date.now() / 1000);
    const receipt = await open().write(hash, never);
    expect(receipt.base.explorer_url).to.equal(`https://basescan.org/tx/${receipt.base.tx}`);
    expect(receipt.solana?.explorer_url).to.equal(`https://solscan.io/tx/${receipt.solana?.tx}`);
    expect(receipt.anchored_at).to.be.within(before, Math.floor(Date.now() / 1000));

    const reads = createEvmReads(createEvmClient({ url: base.url, chainId: 8453 }));
    const onBase = await reads.transaction(receipt.base.tx as Hex, never);
    const from = (await treasury.evmAddress()).toLowerCase();
    expect(onBase).to.include({ from, to: from, input: `0x${hash}`, status: "success" });
    const node = new Connection(solana.url, "confirmed");
    const onSolana = await node.getTransaction(receipt.solana!.tx, { maxSupportedTransactionVersion: 0 });
    const logs = onSolana?.meta?.logMessages?.join("\n");
    expect(logs).to.include(hash).and.to.include(treasury.solanaAddress);

    const spent = { kind: "fee", purpose: "anchor", about: hash, isReverted: false };
    const cost = 10n ** 18n - BigInt((await base.rpc("eth_getBalance", [from, "latest"])) as string);
    expect(store.fees?.get(receipt.base.tx)).to.include({ ...spent, symbol: "ETH", decimals: 18, amount: `${cost}` });
    expect(store.fees?.get(receipt.solana!.tx)).to.include({
      ...spent,
      symbol: "SOL",
      decimals: 9,
      amount: `${onSolana?.meta?.fee}`,
    });
  });

  it("is whole without Solana, which is null when it fails or takes too long", async () => {
    solana.drop(1_000_000);
    const receipt = await open({ solanaMs: 300 }).write(randomBytes(32).toString("hex"), never);
    expect(receipt.solana).to.equal(null);
    expect(receipt.base.tx).to.match(/^0x[0-9a-f]{64}$/);
  });

  it("is written to Solana twenty times with the least that its treasury should hold", async () => {
    const secret = base58.encode(Keypair.generate().secretKey);
    const config = readConfig({ TREASURY_SOLANA_KEY: secret, SOLANA_RPC_URL: solana.url });
    const [account] = feeAccounts(
      config,
      { ...site, rails: [rail("base"), rail("solana")] },
      new Set(["anchor"]),
    ).slice(-1);
    const poor = createTreasury({ evmKey: undefined, solanaKey: secret });
    solana.airdrop(poor.solanaAddress, account!.least);
    expect(await account!.read(never)).to.deep.equal({ address: poor.solanaAddress, balance: account!.least });
    const client = createSolanaClient({ url: solana.url, network: solana.network });
    const terms = {
      client,
      network: solana.network,
      store: createMemoryStore(),
      clock: Date,
      log: silentLog,
      pollMs: 10,
    };
    const sender = createSolanaSender({ ...terms, treasury: poor });
    const signer = { address: poor.solanaAddress, isSigner: true, isWritable: false };
    for (let at = 0; at < 20; at += 1)
      await sender.send([{ program: MEMO_PROGRAM, accounts: [signer], data: Buffer.from(String(at)) }], never);
  });

  it("is not offered while no block takes the treasury's transactions", async () => {
    let shift = 0;
    const anchor = open({ clock: { now: () => Date.now() + shift } });
    await base.rpc("evm_setAutomine", [false]);
    const first = anchor.write(randomBytes(32).toString("hex"), never);
    await eventually(() => evmSender!.waitingMs() > 0);
    expect(await thrown(anchor.ready(never))).to.equal(undefined);
    shift = 60_000;
    const message = "No block on Base takes the treasury's transactions now";
    expect(await thrown(anchor.ready(never))).to.include({ code: "unavailable", message });
    await base.rpc("evm_setAutomine", [true]);
    await base.rpc("evm_mine", []);
    await first;
    expect(await thrown(anchor.ready(never))).to.equal(undefined);
  });

  it("is not offered while gas costs more than it may pay: what cannot be sent must not be charged", async () => {
    const anchor = open();
    await base.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(500n * 10n ** 9n)]);
    await base.rpc("evm_mine", []);
    const message = "Transactions on Base cost more now than this service may pay";
    expect(await thrown(anchor.ready(never))).to.include({ code: "unavailable", message });
    await base.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(10n ** 9n)]);
    await base.rpc("evm_mine", []);
    expect(await thrown(anchor.ready(never))).to.equal(undefined);
  });

  it("fails when Base fails, in Base's name", async () => {
    const anchor = open();
    toBase.intervene(() => "lose");
    expect(await thrown(anchor.write(randomBytes(32).toString("hex"), never))).to.include({
      code: "upstream-failed",
      message: "The Base chain could not be asked",
    });
  });

  it("fails when Base takes the transaction and does not include it", async () => {
    await base.rpc("evm_setAutomine", [false]);
    const error = await thrown(open({ includeMs: 1000 }).write(randomBytes(32).toString("hex"), never));
    await base.rpc("evm_setAutomine", [true]);
    await base.rpc("evm_mine", []);
    expect(error)
      .to.include({ code: "upstream-failed" })
      .and.have.property("message")
      .that.matches(/^The Base chain has not included transaction 0x/);
  });

  it("goes on, when it is tried again, with the transaction that no block took in time, and pays for no other one", async () => {
    const hash = randomBytes(32).toString("hex");
    const anchor = open({ includeMs: 3000 });
    const from = await treasury.evmAddress();
    const count = async (tag: string): Promise<number> =>
      Number(await base.rpc("eth_getTransactionCount", [from, tag]));
    const before = await count("latest");
    await base.rpc("evm_setAutomine", [false]);
    expect(await thrown(anchor.write(hash, never))).to.include({ code: "upstream-failed" });
    expect(await thrown(anchor.write(hash, never))).to.include({ code: "upstream-failed" });
    expect(await count("pending")).to.equal(before + 1);
    await base.rpc("evm_setAutomine", [true]);
    await base.rpc("evm_mine", []);
    const receipt = await anchor.write(hash, never);
    expect(await count("latest")).to.equal(before + 1);
    expect([...store.fees!.keys()]).to.have.members([receipt.base.tx, receipt.solana?.tx]);
    const other = await anchor.write(hash, never);
    expect(other.base.tx, "sold once more").not.to.equal(receipt.base.tx);
  });

  it("ends with the caller's reason when the caller goes", async () => {
    const gone = AbortSignal.abort(new Error("gone"));
    expect(await thrown(open().write(randomBytes(32).toString("hex"), gone))).to.have.property("message", "gone");
  });
});
