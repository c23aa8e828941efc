import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { createJobDesk } from "../../../runtime/cli/monitor/jobs.ts";
import { createJobFailures } from "../../../runtime/core/jobs/failures.ts";
import { createJobRecords, type JobRecord } from "../../../runtime/core/jobs/records.ts";
import { createRefundRecords } from "../../../runtime/core/refunds/records.ts";
import { toJob } from "../../../runtime/surfaces/pages/seller/job.ts";
import { toJobs } from "../../../runtime/surfaces/pages/seller/jobs.ts";
import type { ShopView } from "../../../runtime/surfaces/pages/seller/view.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const BEGAN = Date.UTC(2026, 4, 1, 12);
const PAYMENT = { network: "eip155:8453", asset: "0xUSDC", amount: "350000", payer: "0xPayer", transaction: "0xpaid" };

describe("the seller's page of jobs", () => {
  let now = BEGAN;
  const store = createMemoryStore(() => now);
  const records = createJobRecords({ store, clock: { now: () => now } });
  const desk = createJobDesk(store);
  const rails = [{ id: "base", network: "eip155:8453", asset: "0xusdc", decimals: 6, symbol: "USDC" }];
  const view = { rails, own: [], services: [], now: BEGAN + 90_000 } as unknown as ShopView;
  const begin = async (): Promise<JobRecord> => {
    const { id } = await records.reserve({ service: "report", input: { secret: "of the buyer" }, refund: true });
    return (await records.begin(id, PAYMENT)) as JobRecord;
  };
  const show = async (): Promise<string> => {
    const { id } = waiting;
    const jobsWaiting = async () => [{ id, service: "report", at: BEGAN }];
    return toJobs(view, await desk.overview({ jobsInLine: async () => new Map([["report", 1]]), jobsWaiting })).markup;
  };
  let waiting: JobRecord;
  before(async () => {
    waiting = await begin();
  });

  it("shows what is in line, and at which step it is", async () => {
    expect(await show())
      .to.include("in line")
      .and.to.include("1 min")
      .and.to.include("report: 1");
    await records.note(waiting.id, "reading the chain");
    expect(await show()).to.include("reading the chain");
  });

  it("lists what has failed, with a page of each job that tells its steps and keeps the buyer's input", async () => {
    const failed = await begin();
    for (const step of ["read", "count"]) {
      now += 1000;
      await records.keepStep(failed.id, step, { value: "of the buyer" });
    }
    const end = { state: "FAILED", at: now + 500, error: "The chain <b>was</b> away" } as const;
    await records.end(failed.id, end);
    await createJobFailures(store).note({ id: failed.id, service: "report", ...end });
    const list = await show();
    expect(list).to.include(`/jobs/${failed.id}`).and.to.include("The chain &lt;b&gt;was&lt;/b&gt; away");
    const job = await desk.read(failed.id);
    const page = job ? toJob(view, job).markup : "";
    const order = ["It was put on record", "settled", "Done: read", "Done: count", "It has failed"];
    const places = order.map((text) => page.indexOf(text));
    expect(places).to.deep.equal(places.toSorted((one, other) => one - other));
    expect(places).not.to.include(-1);
    expect(page).to.include("0.35 USDC").and.to.include("+1000 ms").and.not.to.include("of the buyer");
    for (const id of ["nothing", "x".repeat(600), "\ud800"]) expect(await desk.read(id), id).to.equal(undefined);
    const mine = { ...view, own: ["0xpayer"] };
    expect(job && toJob(mine, job).markup, "in whatever capitals the payment has it").to.include("(yours)");
    const former = { ...view, rails: [] };
    expect(job && toJob(former, job).markup, "the rail has left the site").to.include("350000 atomic units of 0xUSDC");
  });

  it("calls no refund one that pays itself once something has prevented it", async () => {
    const refunds = createRefundRecords(store);
    const due = { id: "due", service: "report", payment: PAYMENT, openedAt: BEGAN } as const;
    await refunds.open({ ...due, state: "pending", reason: null });
    expect(await show()).to.include("pays itself");
    await refunds.update({ ...due, state: "pending", reason: "The treasury has 0 USDC" });
    expect(await show())
      .to.include("is not paid yet")
      .and.to.include("The treasury has 0 USDC")
      .and.not.to.include("pays itself");
    await store.delete("refund:due");
  });

  it("shows 100 of the refunds that are not over, says where all of them are, and stays below 100 kB", async () => {
    const refunds = createRefundRecords(store);
    const payment = { ...PAYMENT, payer: `0x${"a1".repeat(20)}`, transaction: `0x${"b2".repeat(32)}` };
    const reason = "The network of this payment has no treasury that could pay it back by itself: pay it back by hand";
    const open = (at: number): Promise<boolean> =>
      refunds.open({ id: randomUUID(), service: "report", payment, openedAt: at, state: "manual", reason });
    for (let at = 0; at < 100; at += 1) await open(at);
    expect(await show()).not.to.include("lists all");
    await open(100);
    const failed = { service: "report", state: "FAILED", at: now, error: reason } as const;
    for (let at = 0; at < 60; at += 1) await createJobFailures(store).note({ ...failed, id: randomUUID() });
    const page = await show();
    expect(page).to.include("These are 100 of them; <code>payphone refunds</code> lists all.");
    expect(page.length).to.be.below(90_000); // 50 jobs in line come to it.
  });
});
