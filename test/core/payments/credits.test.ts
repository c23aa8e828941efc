import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import type { AnyHandler, Call } from "../../../runtime/api/plugin.ts";
import { Problem } from "../../../runtime/api/problem.ts";
import { createJobRecords } from "../../../runtime/core/jobs/records.ts";
import { type Credits, createCredits } from "../../../runtime/core/payments/credits.ts";
import type { PaymentRecord } from "../../../runtime/core/payments/record.ts";
import { createReservations, type Reservations } from "../../../runtime/core/payments/reservations.ts";
import { createTrials } from "../../../runtime/core/payments/trials.ts";
import type { RefundCase } from "../../../runtime/core/refunds/records.ts";
import type { RefundStatus } from "../../../runtime/core/refunds/refunds.ts";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { bindServices } from "../../../runtime/core/service.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { OFFER } from "../../support/offer.ts";
import { toSite } from "../../support/sellers/dice.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const MINUTE = 60_000;
const never = new AbortController().signal;

describe("a credit", () => {
  let now: number;
  let store: ReturnType<typeof createMemoryStore>;
  let reservations: Reservations;
  let credits: Credits;
  let refunds: RefundCase[];
  let refund: RefundStatus;
  let runs: number;
  let work: (input: unknown, call: Call) => unknown;
  const [clock, log] = [{ now: () => now }, silentLog];
  const toRecord = (more: Partial<PaymentRecord> = {}): PaymentRecord => {
    const payment = { x402Version: 2, accepted: OFFER, payload: {} } as const;
    const names = { request: "r", fingerprint: "f", service: "anchor", payer: "0x9" };
    const receipt = { success: true, transaction: "0xfe", network: OFFER.network, payer: "0x9" };
    const owed = { id: "one", input: { any: 1 }, failures: 0 };
    return { state: "settled", ...names, settledAt: now, payment, receipt, owed, ...more };
  };
  beforeEach(() => {
    [now, refunds, runs] = [1_800_000_000_000, [], 0];
    refund = { refund_tx: null, refund_pending: null };
    store = createMemoryStore(clock.now);
    const handler: AnyHandler = (input: unknown, call: Call) => {
      runs += 1;
      return work(input, call);
    };
    const object = { type: "object" } as const;
    const about = { title: "anchor", description: "It anchors.", route: "POST /v1/anchor", tags: [], examples: [] };
    const sold = { ...about, price: "0.001", input: object, output: object };
    const send = { ...sold, id: "send", route: "POST /v1/send", proxy: { upstream: "post", request: "POST /letters" } };
    const services = bindServices(
      [
        { id: "anchor", ...sold, handler: "work.anchor" },
        send,
        { ...send, id: "put", route: "POST /v1/put", hints: { idempotent: true } },
      ],
      {
        site: toSite([createScriptedRail()]),
        compile: createCompiler(new Map()),
        handlers: new Map(["work.anchor", "proxy:send", "proxy:put"].map((name) => [name, handler])),
      },
    );
    reservations = createReservations({ store, clock, onError: (error) => expect.fail(String(error)) });
    const trials = createTrials({ services, clock, log });
    const records = createJobRecords({ store, clock });
    const desk = { open: async (refund: RefundCase) => void refunds.push(refund), status: async () => refund };
    credits = createCredits({ services, reservations, records, refunds: desk, trials, clock, log });
    work = () => ({ done: true });
  });
  afterEach(() => reservations.close());
  const fail = (code: Problem["code"]): void => {
    work = () => {
      throw new Problem(code, "It fell off the table.");
    };
  };
  const stop = (): AbortSignal => {
    const stopping = new AbortController();
    work = () => {
      stopping.abort();
      throw new Problem("unavailable");
    };
    return stopping.signal;
  };
  const deliver = (record = toRecord(), signal = never) => credits.deliver("k", record, signal);

  it("is delivered by one run, which is told who has paid and where, and is owed no more", async () => {
    let told: object | undefined;
    work = (input, { id, payer, network }) => {
      told = { input, id, payer, network };
      return { done: true };
    };
    const record = await deliver();
    expect(told).to.deep.equal({ input: { any: 1 }, id: "one", payer: "0x9", network: OFFER.network });
    expect(record)
      .to.deep.include({ output: { done: true } })
      .and.not.to.have.property("owed");
    expect(await reservations.read("k")).to.deep.equal(record);
    expect(await deliver(record), "there is nothing to do").to.equal(record);
    expect(await deliver(), "another process has delivered it").to.deep.equal(record);
    expect([runs, refunds]).to.deep.equal([1, []]);
  });

  it("counts a failure that may pass, with its reason, and is tried again", async () => {
    expect((await credits.explain(toRecord())).message).to.match(/^The payment was settled, and its work is not done/);
    fail("upstream-failed");
    const record = await deliver();
    expect(record.owed).to.deep.equal({ ...toRecord().owed, failures: 1, reason: "It fell off the table." });
    expect(await reservations.read("k")).to.deep.equal(record);
    const problem = await credits.explain(record);
    expect(problem.message).to.equal(
      "The payment was settled, and the service failed: It fell off the table. Repeat this request with the same payment, at no further charge; what cannot be delivered within 10 minutes is paid back.",
    );
    expect(problem.options).to.deep.equal({ retryAfter: 5, receipt: record.receipt });
  });

  it("counts no failure of a run that was stopped, nor touches its record", async () => {
    const signal = stop();
    const record = toRecord();
    expect([await deliver(record, signal), await reservations.read("k")]).to.deep.equal([record, undefined]);
  });

  it("says nothing of a run whose steps the store has failed, whatever the handler made of that", async () => {
    const { putIfAbsent } = store;
    store.putIfAbsent = (key, ...rest) =>
      key.startsWith("job-step:") ? Promise.reject(new Problem("unavailable")) : putIfAbsent(key, ...rest);
    work = async (_input, { step }) => {
      await step("one", async () => 1).catch(() => {});
      return { done: true };
    };
    expect(await deliver().catch((error: unknown) => error)).to.have.property("code", "unavailable");
    expect(await reservations.readEnd("k")).to.equal(undefined);
  });

  it("waits for the steps that its run has begun", async () => {
    const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ended: string[] = [];
    work = (_input, { step }) => {
      void step("late", async () => {
        begun.resolve();
        await mayEnd.promise;
        ended.push("step");
        return null;
      });
      return { done: true };
    };
    const delivered = deliver().then(() => ended.push("run"));
    await begun.promise;
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    expect(ended).to.deep.equal([]);
    mayEnd.resolve();
    await delivered;
    expect(ended).to.deep.equal(["step", "run"]);
  });

  it("is left to a process that offers its service", async () => {
    const record = toRecord({ service: "other" });
    expect([await deliver(record), await reservations.read("k")]).to.deep.equal([record, undefined]);
  });

  it("is paid back at once after a failure that no run can mend, and is never run again", async () => {
    fail("unparseable-input");
    const record = await deliver();
    expect(record.owed).to.include({ isPaidBack: true, failures: 1 });
    const payment = { network: OFFER.network, asset: "0x1", amount: "1000", payer: "0x9", transaction: "0xfe" };
    expect(refunds).to.deep.equal([{ id: "one", service: "anchor", payment }]);
    const problem = await credits.explain(record);
    expect(problem.message).to.match(/It fell off the table\. It is being paid back\.$/);
    expect(problem.options).to.deep.equal({ members: refund, receipt: record.receipt });
    refund = { refund_tx: null, refund_pending: "manual" };
    expect((await credits.explain(record)).message).to.match(/It has to be paid back by hand\.$/);
    refund = { refund_tx: "0xab", refund_pending: null };
    expect((await credits.explain(record)).message).to.match(/It was paid back in 0xab\.$/);
    work = () => ({ done: true });
    expect(await deliver(record)).to.equal(record);
    expect((await deliver()).owed, "also where its record was lost").to.include({ isPaidBack: true });
    expect(runs).to.equal(1);
  });

  for (const code of ["upstream-failed", "deadline-exceeded", "internal"] as const)
    it(`is paid back where an upstream may have done what nobody may do twice: ${code}`, async () => {
      fail(code);
      const record = await deliver(toRecord({ service: "send" }));
      expect(record.owed).to.include({ isPaidBack: true, reason: "It fell off the table." });
      expect(await deliver(record)).to.equal(record);
      expect([runs, refunds.length]).to.deep.equal([1, 1]);
    });

  it("is run by one of two processes whose call it is, where nobody may do it twice: the other's lease has lapsed", async () => {
    const [working, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    work = () => {
      working.resolve();
      return runs > 1 ? {} : mayEnd.promise.then(() => ({ done: true }));
    };
    const first = deliver(toRecord({ service: "send" }));
    await working.promise;
    expect(await deliver(toRecord({ service: "send" }))).not.to.have.nested.property("owed.isPaidBack");
    mayEnd.resolve();
    expect([(await first).output, runs, refunds]).to.deep.equal([{ done: true }, 1, []]);
  });

  it("is tried again where an upstream has done nothing, or may do it twice", async () => {
    fail("unavailable");
    const refused = await deliver(toRecord({ service: "send" }));
    expect(refused.owed).to.include({ failures: 1 }).and.not.to.have.property("isBegun");
    fail("upstream-failed");
    expect((await credits.deliver("put", toRecord({ service: "put" }), never)).owed).not.to.have.property("isPaidBack");
    work = () => ({ done: true });
    expect(await deliver(refused)).to.deep.include({ output: { done: true } });
    expect([runs, refunds.length]).to.deep.equal([3, 0]);
  });

  it("is begun by the next attempt where the store refuses to record that it begins, or that nothing was done", async () => {
    const { set, delete: remove } = store;
    const refuse = (): Promise<never> => Promise.reject(new Problem("unavailable"));
    const afterwards: typeof set = (...write) => set(...write).then(refuse);
    for (const refusing of [{ set: refuse }, { set: afterwards }, { delete: refuse }]) {
      Object.assign(store, refusing);
      fail("unavailable");
      const record = toRecord({ service: "send" });
      expect(await deliver(record).catch((error: unknown) => error)).to.have.property("code", "unavailable");
      Object.assign(store, { set, delete: remove });
      work = () => ({ done: true });
      expect(await deliver((await reservations.read("k")) ?? record)).to.deep.include({ output: { done: true } });
      store.entries.clear();
    }
    expect([runs, refunds]).to.deep.equal([4, []]);
  });

  it("is paid back where a process ended while an upstream was asked, or the machine with it", async () => {
    const { set } = store;
    store.set = async (key, value, ttlMs, durability) => (durability === "lazy" ? undefined : set(key, value, ttlMs)); // A crash of the machine takes lazy writes back.
    const signal = stop();
    await deliver(toRecord({ service: "send" }), signal);
    const left = await reservations.read("k");
    expect((await deliver(left)).owed).to.include({ isPaidBack: true });
    expect([runs, refunds.length]).to.deep.equal([1, 1]);
  });

  it("is paid back after ten minutes or 25 failures, without another run, and says so", async () => {
    const old = await credits.deliver("old", toRecord({ settledAt: now - 10 * MINUTE }), never);
    expect((await credits.explain(old)).message).to.match(/its work was not done in time\. It is being paid back\.$/);
    const worn = toRecord({ owed: { id: "two", input: {}, failures: 25 } });
    expect((await credits.deliver("worn", worn, never)).owed).to.include({ isPaidBack: true });
    expect([runs, refunds.length]).to.deep.equal([0, 2]);
    const young = toRecord({ settledAt: now - 10 * MINUTE + 1, owed: { id: "three", input: {}, failures: 24 } });
    expect(await credits.deliver("young", young, never)).not.to.have.property("owed");
    expect(runs).to.equal(1);
  });
});
