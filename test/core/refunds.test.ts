import { expect } from "chai";
import { encodeFunctionData, type Hex, parseAbi } from "viem";
import type { Log } from "../../runtime/api/capabilities.ts";
import { Problem } from "../../runtime/api/problem.ts";
import { sha256 } from "../../runtime/core/digest.ts";
import { createRefundRecords, type RefundCase } from "../../runtime/core/refund-records.ts";
import { createRefunds, type Refunds, type RefundsDeps } from "../../runtime/core/refunds.ts";
import { rail } from "../support/chains.ts";
import { createMemoryStore } from "../support/memory-store.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { failedJob, openRefundRail, PRICE } from "./refund-rail.ts";
import { openRefundStage, type RefundStage, until } from "./refund-stage.ts";

const PENDING = { refund_tx: null, refund_pending: null };
const MANUAL = { refund_tx: null, refund_pending: "manual" };

describe("a refund", () => {
  let stage: RefundStage;
  let proxy: RpcProxy;
  let store: ReturnType<typeof createMemoryStore>;
  let treasury: Awaited<ReturnType<RefundStage["fund"]>>;
  let events: string[];
  const note = (event: string): void => void events.push(event);
  const log: Log = { info: note, warn: note, error: note };
  const open: { close(): unknown }[] = [];

  before(async () => {
    stage = await openRefundStage();
    proxy = await startRpcProxy(stage.chain.url);
  });
  after(async () => {
    await proxy.stop();
    await stage.chain.stop();
  });
  beforeEach(async () => {
    store = createMemoryStore();
    events = [];
    treasury = await stage.fund();
  });
  afterEach(async () => {
    for (const part of open.splice(0)) await part.close();
    proxy.intervene(() => "pass");
    await stage.chain.rpc("evm_setAutomine", [true]);
    await stage.token.setPaused(false);
  });

  /** Refunds as one process makes them, in a hurry. */
  function createProcess(options: Partial<RefundsDeps> = {}, key = treasury.key): Refunds {
    const refundRail = openRefundRail({ url: proxy.url, key, store, log });
    const refunds = createRefunds({
      ...{ store, clock: { now: Date.now }, log, rail: refundRail },
      ...{ screenRecipient: async () => "clear" as const, firstMs: 20, sweepMs: 50, guardMs: 100 },
      ...options,
    });
    open.push(refunds, refundRail);
    return refunds;
  }
  const payerOf = ({ payment }: RefundCase): Hex => payment.payer as Hex;
  const balanceOf = (job: RefundCase): Promise<bigint> => stage.token.balanceOf(payerOf(job));
  const sentBy = async (account: Hex): Promise<number> =>
    Number(await stage.chain.rpc("eth_getTransactionCount", [account, "pending"]));
  const record = (job: RefundCase) => createRefundRecords(store).read(job.id);

  /** Waits until it is told as paid, and holds it to the chain. */
  async function expectPaidOnce(refunds: Refunds, job: RefundCase): Promise<void> {
    await until(async () => (await refunds.status(job.id)).refund_tx !== null);
    const [refund_tx, ...more] = await stage.transfersTo(payerOf(job));
    expect(more, "more than one transfer").to.deep.equal([]);
    expect(await refunds.status(job.id)).to.deep.equal({ refund_tx, refund_pending: null });
    expect(await balanceOf(job)).to.equal(PRICE);
  }

  /** Waits until somebody has said why it is not paid yet, and holds the chain to it. */
  async function expectDelayed(job: RefundCase, reason: RegExp): Promise<void> {
    await until(async () => reason.test((await record(job))?.reason ?? ""));
    expect(await balanceOf(job)).to.equal(0n);
    expect(events).to.include("refund.delayed");
  }

  it("pays the price back to the payer, in USDC on Base", async () => {
    const refunds = createProcess();
    const job = failedJob();
    await refunds.open(job);
    await expectPaidOnce(refunds, job);
  });

  it("is made once, however often it is asked for and by how many processes", async () => {
    const processes = [createProcess(), createProcess(), createProcess({ leaseMs: 5 })];
    for (const refunds of processes) refunds.start();
    const job = failedJob();
    await Promise.all(Array.from({ length: 100 }, (_, at) => processes[at % 3]?.open(job)));
    for (const refunds of processes) await expectPaidOnce(refunds, job);
    await until(async () => (await record(job)) === undefined);
    await Promise.all(processes.map((refunds) => refunds.open(job)));
    for (const refunds of processes) await expectPaidOnce(refunds, job);
  });

  it("is made for each of many jobs at once", async () => {
    const refunds = createProcess();
    const jobs = Array.from({ length: 40 }, () => failedJob());
    await Promise.all(jobs.map((job) => refunds.open(job)));
    for (const job of jobs) await expectPaidOnce(refunds, job);
  });

  it("is not told before a block holds it, and then stays told", async () => {
    const refunds = createProcess();
    const job = failedJob();
    await stage.chain.rpc("evm_setAutomine", [false]);
    await refunds.open(job);
    await until(async () => (await sentBy(treasury.address)) === 1);
    expect(await refunds.status(job.id)).to.deep.equal(PENDING);
    await stage.chain.rpc("evm_mine", []);
    await expectPaidOnce(refunds, job);
    await until(async () => (await record(job)) === undefined);
    await expectPaidOnce(refunds, job);
  });

  it("is not sent a second time while the first is on its way", async () => {
    const refunds = createProcess({ attemptMs: 50 });
    const job = failedJob();
    await stage.chain.rpc("evm_setAutomine", [false]);
    await refunds.open(job);
    await until(() => events.filter((event) => event === "refund.delayed").length >= 3);
    expect(await sentBy(treasury.address)).to.equal(1);
    await stage.chain.rpc("evm_mine", []);
    await expectPaidOnce(refunds, job);
    expect(await sentBy(treasury.address)).to.equal(1);
  });

  it("is left to a person when the payer is under sanctions, and nothing is signed", async () => {
    const [job, other] = [failedJob(), failedJob()];
    const asked: string[] = [];
    const refunds = createProcess({
      screenRecipient: async (address) => {
        asked.push(address);
        return address === payerOf(job) ? "sanctioned" : "clear";
      },
    });
    await refunds.open(job);
    await until(async () => (await refunds.status(job.id)).refund_pending === "manual");
    refunds.start();
    await refunds.open(job);
    await refunds.open(other);
    await expectPaidOnce(refunds, other);
    expect(asked).to.deep.equal([payerOf(job), payerOf(other)]);
    expect(await createRefundRecords(store).readWay(job.id)).to.equal(undefined);
    expect(await balanceOf(job)).to.equal(0n);
  });

  it("waits for the screening, and never goes out without it", async () => {
    let isUp = false;
    const refunds = createProcess({
      screenRecipient: async () => {
        if (isUp) return "clear";
        throw new Problem("upstream-failed", "The list cannot be read");
      },
    });
    const job = failedJob();
    await refunds.open(job);
    await expectDelayed(job, /list cannot be read/);
    expect(await createRefundRecords(store).readWay(job.id)).to.equal(undefined);
    isUp = true;
    await expectPaidOnce(refunds, job);
  });

  it("is screened again when it could not be made at the first time", async () => {
    treasury = await stage.fund(0n);
    let verdict: "clear" | "sanctioned" = "clear";
    const refunds = createProcess({ screenRecipient: async () => verdict });
    const job = failedJob();
    await refunds.open(job);
    await expectDelayed(job, /has 0 USDC, less than 1.77/);
    verdict = "sanctioned";
    await stage.token.mint(treasury.address, PRICE);
    await until(async () => (await refunds.status(job.id)).refund_pending === "manual");
    expect(await balanceOf(job)).to.equal(0n);
  });

  it("waits until the treasury has the money", async () => {
    treasury = await stage.fund(PRICE - 1n);
    const refunds = createProcess();
    const job = failedJob();
    await refunds.open(job);
    await expectDelayed(job, /has 1.769999 USDC, less than 1.77/);
    expect(await refunds.status(job.id)).to.deep.equal(PENDING);
    await stage.token.mint(treasury.address, 1n);
    await expectPaidOnce(refunds, job);
  });

  it("waits until the treasury has gas", async () => {
    treasury = await stage.fund(PRICE, 1000n);
    const refunds = createProcess();
    const job = failedJob();
    await refunds.open(job);
    await expectDelayed(job, /too little of the chain's coin/);
    await stage.chain.setBalance(treasury.address, 10n ** 20n);
    await expectPaidOnce(refunds, job);
  });

  it("waits while the token refuses it, and nothing is signed", async () => {
    const refunds = createProcess();
    const job = failedJob();
    await stage.token.setBlacklisted(payerOf(job), true);
    await refunds.open(job);
    await expectDelayed(job, /token refuses a transfer/);
    expect(await createRefundRecords(store).readWay(job.id)).to.equal(undefined);
    await stage.token.setBlacklisted(payerOf(job), false);
    await expectPaidOnce(refunds, job);
  });

  it("waits for a node that is away", async () => {
    proxy.intervene(() => "lose");
    const refunds = createProcess();
    const job = failedJob();
    await refunds.open(job);
    await expectDelayed(job, /Base chain could not be asked/);
    proxy.intervene(() => "pass");
    await expectPaidOnce(refunds, job);
  });

  for (const method of ["eth_sendRawTransaction", "eth_getTransactionReceipt", "eth_getLogs", "eth_call"])
    it(`is made once when the answers to ${method} are lost`, async () => {
      let lost = 0;
      proxy.intervene((asked) => (asked === method && lost++ < 8 ? "lose-answer" : "pass"));
      const refunds = createProcess();
      const job = failedJob();
      await refunds.open(job);
      await expectPaidOnce(refunds, job);
      expect(lost).to.be.above(0);
    });

  it("is made again when a reorganisation has taken it back, and is on the chain once in the end", async () => {
    const job = failedJob();
    const before = await stage.chain.rpc("evm_snapshot", []);
    const refunds = createProcess();
    await refunds.open(job);
    await until(async () => (await refunds.status(job.id)).refund_tx !== null);
    await stage.chain.rpc("evm_setAutomine", [false]);
    await stage.chain.rpc("evm_revert", [before]);
    await until(async () => (await refunds.status(job.id)).refund_tx === null);
    expect(events).to.include("refund.taken-back");
    await stage.chain.rpc("evm_setAutomine", [true]);
    await stage.chain.rpc("evm_mine", []);
    await until(async () => (await balanceOf(job)) === PRICE);
    await until(async () => (await record(job)) === undefined);
    await expectPaidOnce(refunds, job);
  });

  it("goes on under a new key with what the old one has signed", async () => {
    proxy.intervene((method) => (method === "eth_sendRawTransaction" ? "lose" : "pass"));
    const job = failedJob();
    const old = createProcess({ attemptMs: 100 });
    await old.open(job);
    await until(async () => (await createRefundRecords(store).readWay(job.id)) !== undefined);
    for (const part of open.splice(0)) await part.close();
    proxy.intervene(() => "pass");
    const refunds = createProcess({}, (await stage.fund(0n)).key);
    refunds.start();
    await expectPaidOnce(refunds, job);
    expect(await stage.token.balanceOf(treasury.address)).to.equal(999n * PRICE);
  });

  it("is left to a person when its authorization was cancelled", async () => {
    const job = failedJob();
    const nonce: Hex = `0x${sha256(`payphone/refund/v1|${job.id}`)}`;
    const { asset, domain } = rail("base");
    const message = { authorizer: treasury.address, nonce };
    const types = {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    } as const;
    const signature = await treasury.signTypedData({
      domain: { ...domain, chainId: 8453, verifyingContract: asset as Hex },
      ...{ types, primaryType: "CancelAuthorization", message },
    });
    const abi = parseAbi(["function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)"]);
    const args = [treasury.address, nonce, signature] as const;
    await stage.chain.transact(asset as Hex, encodeFunctionData({ abi, functionName: "cancelAuthorization", args }));
    const refunds = createProcess();
    await refunds.open(job);
    await until(async () => (await refunds.status(job.id)).refund_pending === "manual");
    expect(await sentBy(treasury.address)).to.equal(0);
  });

  const { network, asset } = rail("solana");
  const byHand: Record<string, Partial<RefundCase["payment"]>> = {
    "in USDC on Solana": { network, asset, payer: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin" },
    "in JPYC": { network: rail("polygon").network, asset: rail("polygon").asset },
    "in another token on Base": { asset: rail("polygon").asset },
    "by nobody who is known": { payer: null },
    "by somebody without an EVM address": { payer: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin" },
  };
  for (const [how, payment] of Object.entries(byHand))
    it(`is manual when the job was paid ${how}`, async () => {
      const refunds = createProcess({ screenRecipient: () => Promise.reject(new Error("nobody asks")) });
      const job = failedJob(payment);
      await refunds.open(job);
      refunds.start();
      expect(await refunds.status(job.id)).to.deep.equal(MANUAL);
      expect(events).to.deep.equal(["refund.opened"]);
    });

  it("is manual where the site pays nothing back by itself", async () => {
    const refunds = createProcess({ rail: undefined });
    const job = failedJob();
    await refunds.open(job);
    expect(await refunds.status(job.id)).to.deep.equal(MANUAL);
  });

  it("is neither paid nor pending when nobody has opened it", async () => {
    expect(await createProcess().status("unknown")).to.deep.equal(PENDING);
  });

  it("is not opened when it cannot be put on record", async () => {
    const away = new Problem("unavailable", "The store cannot be reached");
    const refunds = createProcess({ store: { ...store, putIfAbsent: () => Promise.reject(away) } });
    const job = failedJob();
    const thrown = await refunds.open(job).catch((error: unknown) => error);
    expect(thrown).to.equal(away);
    expect(await refunds.status(job.id)).to.deep.equal(PENDING);
  });
});
