import { expect } from "chai";
import { createJobRecords } from "../../../runtime/core/jobs/records.ts";
import { createStatusOf } from "../../../runtime/core/jobs/status.ts";
import { createRefunds } from "../../../runtime/core/refunds/refunds.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { eventually } from "../../support/eventually.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { openStage, type Stage } from "./stage.ts";

describe("the status of a job", () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage({ job: { concurrency: 1 } });
  });
  afterEach(() => stage.close());

  it("tells whether it waits, what is being done, how long it may take, and what came of it", async () => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    stage.work = async ({ what }, { report, step }) => {
      await first.promise;
      report("looking around");
      await step("digging", () => second.promise);
      return { found: what };
    };
    const [one, two] = [await stage.buy("one"), await stage.buy("two")];
    await eventually(async () => (await stage.status(one)).status === "IN_PROGRESS");
    expect(await stage.status(one)).to.include({ step: null, eta_seconds: 120, deliverable: null, error: null });
    expect(await stage.status(two)).to.include({ status: "DISPATCHING", step: null, eta_seconds: 120 });
    first.resolve();
    await eventually(async () => (await stage.status(one)).step === "looking around");
    stage.clock.advance(30_000);
    expect((await stage.status(one)).eta_seconds).to.be.within(85, 90);
    stage.clock.advance(-300_000);
    expect((await stage.status(one)).eta_seconds, "by a clock that is behind").to.equal(120);
    stage.clock.advance(300_000);
    stage.clock.advance(300_000);
    expect((await stage.status(one)).eta_seconds).to.equal(0);
    second.resolve();
    expect(await stage.ended(one)).to.include({ status: "DELIVERED", eta_seconds: null, step: null });
    expect((await stage.ended(two)).deliverable).to.deep.equal({ found: "two" });
  });

  it("shows what was reported directly before a step, and the name of a step without a report", async () => {
    const gates = { first: Promise.withResolvers<void>(), second: Promise.withResolvers<void>() };
    stage.work = async ({ what }, { report, step }) => {
      report("reading 40 accounts");
      await step("read", () => gates.first.promise);
      await step("sum", () => gates.second.promise);
      return { found: what };
    };
    const id = await stage.buy("x");
    await eventually(async () => (await stage.status(id)).step !== null);
    expect((await stage.status(id)).step).to.equal("reading 40 accounts");
    gates.first.resolve();
    await eventually(async () => (await stage.status(id)).step === "sum");
    gates.second.resolve();
    await stage.ended(id);
  });

  it("shows a report as text, whatever was reported", async () => {
    const gate = Promise.withResolvers<void>();
    const lent = Promise.withResolvers<(progress: string) => void>();
    stage.work = async ({ what }, { report }) => {
      lent.resolve(report);
      await gate.promise;
      return { found: what };
    };
    const id = await stage.buy("x");
    const report = await lent.promise;
    for (const given of [40, { done: 40 }, 1n, Symbol("forty"), null, "40 %"]) {
      report(given as string);
      await eventually(async () => (await stage.status(id)).step === String(given));
    }
    gate.resolve();
    expect(await stage.ended(id)).to.include({ status: "DELIVERED" });
  });

  it("is told where its service has an id that this process does not know, but not at another service's route", async () => {
    const parts = { store: createMemoryStore(), clock: { now: Date.now } };
    const records = createJobRecords(parts);
    const refunds = { status: () => expect.fail("It has not failed") };
    const statusOf = createStatusOf({ records, refunds, clock: parts.clock });
    const search = statusOf("search", { status_route: "GET /v1/search/{job_id}" } as never);
    statusOf("count", { status_route: "GET /v1/count/{job_id}" } as never);
    const told: string[] = [];
    for (const service of ["search", "find", "count"]) {
      const { id } = await records.reserve({ service, input: {}, refund: true });
      await records.begin(id, null);
      await records.end(id, { state: "DELIVERED", at: 0, deliverable: {} });
      told.push((await search({ job_id: id } as never, undefined as never)).status);
    }
    expect(told).to.deep.equal(["DELIVERED", "DELIVERED", "UNKNOWN"]);
  });

  it("says from the first moment of a failure that its price is paid back by hand", async () => {
    const parts = { store: createMemoryStore(), clock: { now: Date.now } };
    const records = createJobRecords(parts);
    const refunds = createRefunds({ ...parts, log: silentLog, screenRecipient: async () => "clear" });
    const yen = { network: "eip155:137", asset: "0xjpyc", amount: "1", payer: "0xbuyer", transaction: "0xpaid" };
    const statusOf = createStatusOf({ records, refunds, clock: parts.clock })("search", { eta_seconds: 1 } as never);
    for (const refund of [true, false]) {
      const { id } = await records.reserve({ service: "search", input: {}, refund });
      await records.begin(id, yen);
      await records.end(id, { state: "FAILED", at: 0, error: "It broke" });
      const told = await statusOf({ job_id: id } as never, undefined as never);
      const pending = refund ? "manual" : null; // The service may have said that it pays nothing back.
      expect(told).to.include({ status: "FAILED", refund_tx: null, refund_pending: pending });
    }
    await refunds.close();
  });

  it("says that nothing is owed where a reorganisation has undone its payment for good", async () => {
    const parts = { store: createMemoryStore(), clock: { now: Date.now } };
    const records = createJobRecords(parts);
    const undone = async () => ({ refund_tx: null, refund_pending: null, isUndone: true as const });
    const deps = { records, refunds: { status: undone }, clock: parts.clock };
    const statusOf = createStatusOf(deps)("search", { eta_seconds: 1 } as never);
    const { id } = await records.reserve({ service: "search", input: {}, refund: true });
    await records.begin(id, { network: "eip155:8453", asset: "0x1", amount: "1", payer: "0x9", transaction: "0xpaid" });
    await records.end(id, { state: "FAILED", at: 0, error: "It broke" });
    const told = await statusOf({ job_id: id } as never, undefined as never);
    expect(told.error).to.equal(
      "It broke. A reorganisation of the chain has undone its payment for good: nothing is owed.",
    );
    expect(told, "nothing more than the schema has").not.to.have.property("isUndone");
  });
});
