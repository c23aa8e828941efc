import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
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

  it("is UNKNOWN under any other id, and by another service's route", async () => {
    const id = await stage.buy("x");
    const unknown = { status: "UNKNOWN", error: "job_not_found", deliverable: null, eta_seconds: null };
    expect(await stage.status(id.replace(/^./, (digit) => (digit === "0" ? "1" : "0")))).to.include(unknown);
    expect(await stage.status(id, "errand")).to.include(unknown);
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
