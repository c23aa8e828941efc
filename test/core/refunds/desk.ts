import { expect } from "chai";
import type { Hex } from "viem";
import type { Log } from "../../../runtime/api/capabilities.ts";
import {
  createRefundRecords,
  type OpenRefund,
  type RefundCase,
  type RefundRecords,
} from "../../../runtime/core/refunds/records.ts";
import { createRefunds, type Refunds, type RefundsDeps } from "../../../runtime/core/refunds/refunds.ts";
import { type RpcProxy, startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { failedJob, openRefundRail, PRICE } from "./rail.ts";
import { openRefundStage, type RefundStage } from "./stage.ts";

/** What tests of refunds work with; store, treasury and events are new for each test. */
export interface RefundDesk {
  stage: RefundStage;
  /** Between every process and the chain. */
  proxy: RpcProxy;
  store: ReturnType<typeof createMemoryStore>;
  records: RefundRecords;
  treasury: Awaited<ReturnType<RefundStage["fund"]>>;
  /** What the processes have logged. */
  events: string[];
  /** Refunds as one process makes them, in a hurry. */
  createProcess(options?: Partial<RefundsDeps>, key?: Hex): Refunds;
  /** A failed job whose refund such a process has opened. */
  openRefund(options?: Partial<RefundsDeps>): Promise<{ readonly refunds: Refunds; readonly job: RefundCase }>;
  closeAll(): Promise<void>;
  balanceOf(job: RefundCase): Promise<bigint>;
  /** How many transactions an account has sent. */
  sentBy(account: Hex): Promise<number>;
  record(job: RefundCase): Promise<OpenRefund | undefined>;
  /** Waits until it is told as paid, and holds it to the chain. */
  expectPaidOnce(refunds: Refunds, job: RefundCase): Promise<void>;
  /** Waits until somebody has said why it is not paid yet, and holds the chain to it. */
  expectDelayed(job: RefundCase, reason: RegExp): Promise<void>;
}

export const payerOf = ({ payment }: RefundCase): Hex => payment.payer as Hex;

/** To be called in a `describe`. */
export function openRefundDesk(): RefundDesk {
  const open: { close(): unknown }[] = [];
  const note = (event: string): void => void desk.events.push(event);
  const log: Log = { info: note, warn: note, error: note };
  const desk = {
    createProcess(options = {}, key = desk.treasury.key) {
      const { store, proxy } = desk;
      const rail = openRefundRail({ url: proxy.url, key, store, log });
      const refunds = createRefunds({
        store,
        clock: { now: Date.now },
        log,
        rail,
        screenRecipient: async () => "clear" as const,
        firstMs: 20,
        sweepMs: 50,
        guardMs: 100,
        ...options,
      });
      open.push(refunds, rail);
      return refunds;
    },
    async openRefund(options) {
      const [refunds, job] = [desk.createProcess(options), failedJob()];
      await refunds.open(job);
      return { refunds, job };
    },
    async closeAll() {
      for (const part of open.splice(0)) await part.close();
    },
    balanceOf: (job) => desk.stage.token.balanceOf(payerOf(job)),
    sentBy: async (account) => Number(await desk.stage.chain.rpc("eth_getTransactionCount", [account, "pending"])),
    record: ({ id }) => desk.records.read(id),
    async expectPaidOnce(refunds, job) {
      await eventually(async () => (await refunds.status(job.id)).refund_tx !== null);
      const [refund_tx, ...more] = await desk.stage.transfersTo(payerOf(job));
      expect(more, "more than one transfer").to.deep.equal([]);
      expect(await refunds.status(job.id)).to.deep.equal({ refund_tx, refund_pending: null });
      expect(await desk.balanceOf(job)).to.equal(PRICE);
    },
    async expectDelayed(job, reason) {
      await eventually(async () => reason.test((await desk.record(job))?.reason ?? ""));
      expect(await desk.balanceOf(job)).to.equal(0n);
      expect(desk.events).to.include("refund.delayed");
    },
  } as RefundDesk; // Completed before the first test.

  before(async () => {
    desk.stage = await openRefundStage();
    desk.proxy = await startRpcProxy(desk.stage.chain.url);
  });
  after(async () => {
    await desk.proxy.stop();
    await desk.stage.chain.stop();
  });
  beforeEach(async () => {
    desk.store = createMemoryStore();
    desk.records = createRefundRecords(desk.store);
    desk.events = [];
    desk.proxy.calls.length = desk.proxy.params.length = 0;
    desk.treasury = await desk.stage.fund();
  });
  afterEach(async () => {
    await desk.closeAll();
    desk.proxy.intervene(() => "pass");
    await desk.stage.chain.rpc("evm_setAutomine", [true]);
  });
  return desk;
}
