import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { OpenRefund } from "../../../runtime/core/refunds/records.ts";
import { rail } from "../../support/chains/chains.ts";
import { eventually } from "../../support/eventually.ts";
import { openRefundDesk, payerOf } from "./desk.ts";
import { failedJob, openRefundRail, PRICE } from "./rail.ts";

const PENDING = { refund_tx: null, refund_pending: null };

describe("a refund", () => {
  const desk = openRefundDesk();
  const { createProcess, openRefund, expectPaidOnce, expectDelayed, balanceOf, sentBy, record } = desk;

  it("is made once, however often it is asked for and by how many processes", async () => {
    const processes = [createProcess(), createProcess(), createProcess({ leaseMs: 5 })];
    for (const refunds of processes) refunds.start();
    const job = failedJob();
    await Promise.all(Array.from({ length: 100 }, (_, at) => processes[at % 3]?.open(job)));
    for (const refunds of processes) await expectPaidOnce(refunds, job);
    await eventually(async () => (await record(job)) === undefined);
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
    await desk.stage.chain.rpc("evm_setAutomine", [false]);
    const { refunds, job } = await openRefund();
    await eventually(async () => (await sentBy(desk.treasury.address)) === 1);
    expect(await refunds.status(job.id)).to.deep.equal(PENDING);
    await desk.stage.chain.rpc("evm_mine", []);
    await expectPaidOnce(refunds, job);
    await eventually(async () => (await record(job)) === undefined);
    await expectPaidOnce(refunds, job);
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
    await eventually(async () => (await refunds.status(job.id)).refund_pending === "manual");
    refunds.start();
    await refunds.open(job);
    await refunds.open(other);
    await expectPaidOnce(refunds, other);
    expect(asked).to.deep.equal([payerOf(job), payerOf(other)]);
    expect(await desk.records.readWay(job.id)).to.equal(undefined);
    expect(await balanceOf(job)).to.equal(0n);
  });

  it("is screened again when it could not be made at the first time", async () => {
    desk.treasury = await desk.stage.fund(0n);
    let verdict: "clear" | "sanctioned" = "clear";
    const { refunds, job } = await openRefund({ screenRecipient: async () => verdict });
    await expectDelayed(job, /has 0 USDC, less than 1.77/);
    verdict = "sanctioned";
    await desk.stage.token.mint(desk.treasury.address, PRICE);
    await eventually(async () => (await refunds.status(job.id)).refund_pending === "manual");
    expect(await balanceOf(job)).to.equal(0n);
  });

  it("waits until the treasury has the money", async () => {
    desk.treasury = await desk.stage.fund(PRICE - 1n);
    const { refunds, job } = await openRefund();
    await expectDelayed(job, /has 1.769999 USDC, less than 1.77/);
    expect(await refunds.status(job.id)).to.deep.equal(PENDING);
    await desk.stage.token.mint(desk.treasury.address, 1n);
    await expectPaidOnce(refunds, job);
  });

  it("waits until the treasury has gas", async () => {
    desk.treasury = await desk.stage.fund(PRICE, 10n ** 13n);
    const { refunds, job } = await openRefund();
    await expectDelayed(job, /too little of the chain's coin/);
    await desk.stage.chain.setBalance(desk.treasury.address, 10n ** 20n);
    await expectPaidOnce(refunds, job);
  });

  it("waits while the token refuses it, and nothing is signed", async () => {
    const refunds = createProcess();
    const job = failedJob();
    await desk.stage.token.setBlacklisted(payerOf(job), true);
    await refunds.open(job);
    await expectDelayed(job, /token refuses a transfer/);
    expect(await desk.records.readWay(job.id)).to.equal(undefined);
    await desk.stage.token.setBlacklisted(payerOf(job), false);
    await expectPaidOnce(refunds, job);
  });

  it("waits where the site has changed its token or pays nothing back any more, and goes out in no other", async () => {
    const job = failedJob();
    await desk.records.open({ ...job, openedAt: Date.now(), state: "pending", reason: null });
    const { url } = desk.proxy;
    const right = openRefundRail({ url, key: desk.treasury.key, store: desk.store });
    for (const other of [{ ...right, asset: rail("polygon").asset }, undefined]) {
      await desk.records.update({ ...(await desk.records.read(job.id)), reason: null } as OpenRefund);
      createProcess({ rail: other }).start();
      await expectDelayed(job, /^This site does not make refunds in this token any more$/);
      await desk.closeAll();
    }
    expect(await desk.records.readWay(job.id)).to.equal(undefined);
    right.close();
    const refunds = createProcess();
    refunds.start();
    await expectPaidOnce(refunds, job);
  });

  it("stays with the person that another process has left it to while this one was stalled", async () => {
    const job = failedJob();
    let isStalled = false;
    const get = async <T>(key: string): Promise<T | undefined> => {
      const value = await desk.store.get<T>(key);
      if (!isStalled || key !== `refund:${job.id}`) return value;
      isStalled = false;
      await desk.records.update({ ...(value as OpenRefund), state: "manual", reason: "The other process says so" });
      return value;
    };
    const refunds = createProcess({
      store: { ...desk.store, get },
      leaseMs: 5,
      async screenRecipient() {
        for (const end = performance.now() + 10; performance.now() < end; );
        isStalled = true;
        throw new Error("nobody is there");
      },
    });
    await refunds.open(job);
    await eventually(async () => desk.events.includes("refund.delayed"));
    await desk.closeAll();
    expect(await record(job)).to.include({ state: "manual", reason: "The other process says so" });
  });

  it("that was opened by a set which is being replaced is made by the next one as soon as it takes over", async () => {
    const [former, next] = [createProcess(), createProcess({ sweepMs: 3_600_000 })];
    next.start();
    await former.drain();
    const job = failedJob();
    await former.open(job);
    next.sweep();
    await expectPaidOnce(next, job);
  });

  it("is neither paid nor pending when nobody has opened it", async () => {
    expect(await createProcess().status("unknown")).to.deep.equal(PENDING);
  });

  it("is not opened when it cannot be put on record", async () => {
    const away = new Problem("unavailable", "The store cannot be reached");
    const refunds = createProcess({ store: { ...desk.store, putIfAbsent: () => Promise.reject(away) } });
    const job = failedJob();
    const thrown = await refunds.open(job).catch((error: unknown) => error);
    expect(thrown).to.equal(away);
    expect(await refunds.status(job.id)).to.deep.equal(PENDING);
  });
});
