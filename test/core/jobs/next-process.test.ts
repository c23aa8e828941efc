import { once } from "node:events";
import { expect } from "chai";
import { toDamaged } from "../../../runtime/core/damage.ts";
import { move, refuses } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openStage, type Stage } from "./stage.ts";

describe("the work of a job that its process left undone", () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });
  afterEach(() => stage.close());

  it("goes on in the next process where this one was closed, and ends once", async () => {
    const steps: string[] = [];
    stage.work = async ({ what }, { step, signal }) => {
      await step("one", async () => void steps.push("one"));
      await step("two", async () => {
        steps.push("two");
        if (steps.length === 2) await once(signal, "abort");
      });
      if (steps.length === 2) await new Promise(() => {});
      return { found: what };
    };
    const id = await stage.buy("x");
    await eventually(() => steps.length === 2);
    stage.work = async ({ what }, { step }) => {
      await step("one", async () => void steps.push("one again"));
      await step("two", async () => void steps.push("two again"));
      return { found: what };
    };
    await stage.restart();
    expect(await stage.ended(id)).to.include({ status: "DELIVERED" });
    expect(steps, "what was begun was finished, and known").to.deep.equal(["one", "two"]);
    await stage.outOfLine();
  });

  for (const days of [2, 20])
    it(`is ${days > 3 ? "paid back" : "done"} where the shop stood still for ${days} days before it found the settlement`, async () => {
      stage.rail.script.settle = (payment, offer) => {
        move(stage.rail, payment, offer);
        throw new Error("timeout");
      };
      stage.rail.script.find = () => ({ state: "open" });
      expect((await stage.post("/v1/search", { what: "late" }, await stage.pay())).status).to.equal(503);
      const [id] = stage.ids() as [string];
      stage.clock.advance(days * 24 * 60 * 60_000);
      delete stage.rail.script.find;
      await stage.restart();
      expect((await stage.ended(id)).status).to.equal(days > 3 ? "FAILED" : "DELIVERED");
      await eventually(() => stage.refunds.length === (days > 3 ? 1 : 0));
    });

  it("is not charged in the end where its payment was refused before, and the service takes no such input any more", async () => {
    const payment = await stage.pay();
    stage.rail.script.settle = refuses();
    expect((await stage.post("/v1/search", { what: "x" }, payment)).status).to.equal(402);
    delete stage.rail.script.settle;
    await stage.restart({ input: { type: "object", properties: { what: { type: "string", minLength: 2 } } } });
    const again = await stage.post("/v1/search", { what: "x" }, payment);
    expect([again.status, stage.rail.moved.size]).to.deep.equal([422, 0]);
  });

  it("is paid back as its challenge has promised, also where the service pays nothing back by now", async () => {
    stage.work = () => {
      throw new Error("broken");
    };
    const [promised, other] = [await stage.pay(), await stage.pay()];
    await stage.restart({ job: { refund: false } });
    const told = await stage.pay();
    for (const [what, payment] of Object.entries({ promised, told })) {
      const sold = await stage.post("/v1/search", { what }, payment);
      await stage.ended(((await sold.json()) as { readonly job_id: string }).job_id);
    }
    await stage.outOfLine();
    expect(stage.refunds).to.have.length(1);
    await stage.restart({ job: { refund: true } });
    expect((await stage.post("/v1/search", { what: "other" }, other)).status).to.equal(200);
    await eventually(() => stage.refunds.length === 2);
  });

  it("has one end, whatever a worker says that was stalled: what was refunded is not delivered", async () => {
    stage.work = async ({ what }) => {
      const end = { state: "FAILED", at: stage.clock.now(), error: "another worker gave it up" };
      await stage.store.set(`job-end:${stage.ids()[0]}`, end);
      return { found: what };
    };
    const id = await stage.buy("x");
    expect(await stage.ended(id)).to.include({ status: "FAILED", deliverable: null });
    await stage.outOfLine();
    expect([(await stage.status(id)).status, stage.refunds.length]).to.deep.equal(["FAILED", 1]);
  });

  it("is queued again for whoever asks after it, a minute after it should have ended, where the queue has lost it", async () => {
    stage.work = async (_, { signal }) => once(signal, "abort");
    const id = await stage.buy("x");
    await eventually(() => stage.attempts.length === 1);
    await stage.restart({ id: "other" });
    for await (const key of stage.store.keys("queue:")) await stage.store.delete(key);
    stage.work = ({ what }) => ({ found: what });
    await stage.restart();
    stage.clock.advance(150_000);
    expect((await stage.status(id)).status).to.equal("IN_PROGRESS");
    await stage.outOfLine();
    expect(stage.attempts).to.deep.equal(["x"]);
    stage.clock.advance(60_000);
    expect(await stage.ended(id)).to.include({ status: "DELIVERED" });
    expect(stage.attempts).to.deep.equal(["x", "x"]);
  });

  it("fails, and is paid back, where its record is lost or damaged before it begins: the money has moved", async () => {
    for (const record of [undefined, { id: "another" }]) {
      stage.rail.script.settle = async (payment, offer) => {
        for (const id of stage.ids()) await stage.store.set(`job:${id}`, record);
        return move(stage.rail, payment, offer);
      };
      const id = await stage.buy("x");
      expect(await stage.ended(id)).to.include({ status: "FAILED", error: "Its record in the shop's store was lost" });
      await stage.outOfLine();
      expect(stage.refunds.at(-1)?.id).to.equal(id);
    }
    expect([stage.attempts.length, stage.refunds.length]).to.deep.equal([0, 2]);
  });

  it("is paid back where its record is lost, or the result of a step damaged, also where what fails is not", async () => {
    await stage.restart({ job: { refund: false } });
    stage.rail.script.settle = async (payment, offer) => {
      for (const id of stage.ids()) await stage.store.set(`job:${id}`, undefined);
      return move(stage.rail, payment, offer);
    };
    const lost = await stage.buy("x");
    stage.rail.script = {};
    const { get } = stage.store;
    stage.store.get = async (key) => {
      if (key.startsWith("job-step:")) throw toDamaged(key, "It is no JSON");
      return get(key);
    };
    stage.work = (_, { step }) => step("one", async () => {});
    const ids = [lost, await stage.buy("x")];
    for (const id of ids)
      expect(await stage.ended(id)).to.include({ status: "FAILED", error: "Its record in the shop's store was lost" });
    await stage.outOfLine();
    expect(stage.refunds.map(({ id }) => id)).to.have.members(ids);
  });

  it("is paid back where the service takes no such input any more, also where what fails is not", async () => {
    const job = { refund: false };
    await stage.restart({ job });
    stage.work = async (_, { signal }) => once(signal, "abort");
    const id = await stage.buy("x");
    await eventually(() => stage.attempts.length === 1);
    await stage.restart({ job, input: { type: "object", properties: { what: { type: "string", minLength: 2 } } } });
    const { status, error } = await stage.ended(id);
    expect([status, error]).to.deep.equal([
      "FAILED",
      "The service has changed since this was paid for, and no longer takes such an input",
    ]);
    await stage.outOfLine();
    expect(stage.refunds.map((refund) => refund.id)).to.deep.equal([id]);
  });

  describe("whose service this process does not offer", () => {
    const end = Promise.withResolvers<void>();
    let id: string;
    beforeEach(async () => {
      await stage.restart({ job: { refund: false } });
      stage.work = async ({ what }, { signal }) => {
        await Promise.race([end.promise, once(signal, "abort")]);
        return { found: what };
      };
      id = await stage.buy("x");
      await eventually(() => stage.attempts.length === 1);
      await stage.restart({ id: "other" });
      await eventually(() => stage.store.entries.has("job-orphaned:search"));
    });
    /** Lets time pass, and the process look at the queue once more. */
    const pass = async (minutes: number): Promise<void> => {
      stage.clock.advance(minutes * 60_000);
      const now = stage.clock.now();
      const isMarked = (mark: unknown): boolean => (mark as { until: number }).until > now;
      await eventually(() => isMarked(stage.store.entries.get("job-offered:other")));
    };

    it("is done at once by one that offers it, after whatever time below an hour", async () => {
      await pass(59);
      expect([stage.notBefore(), stage.attempts.length]).to.deep.equal([0, 1]);
      stage.work = ({ what }) => ({ found: what });
      await stage.restart();
      expect(await stage.ended(id)).to.include({ status: "DELIVERED" });
      await eventually(() => !stage.store.entries.has("job-orphaned:search"));
    });

    it("is paid back when nobody has offered it for an hour, also where what fails is not", async () => {
      await pass(59);
      expect(stage.store.entries.has(`job-end:${id}`)).to.equal(false);
      await pass(2);
      await stage.outOfLine();
      expect(stage.refunds.map((refund) => refund.id)).to.deep.equal([id]);
    });
  });
});
