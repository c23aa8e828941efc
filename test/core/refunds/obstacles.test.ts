import { mock } from "node:test";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { RefundCase } from "../../../runtime/core/refunds/records.ts";
import { type AttemptStage, MINUTE, openAttempts, PAYER, SIGNED, toCase } from "./attempts.ts";

describe("the attempts at a refund that meets an obstacle", () => {
  let stage: AttemptStage;
  beforeEach(() => {
    stage = openAttempts();
  });
  afterEach(() => stage.close());

  it("leave it to a person when the authorization was cancelled, or the payer is under sanctions", async () => {
    stage.found = { state: "dead" };
    await stage.begin();
    stage.screened = "sanctioned";
    await stage.refunds.open({ ...toCase(), id: "two" });
    await stage.time.pass(10);
    for (const id of ["one", "two"])
      expect(await stage.refunds.status(id)).to.deep.equal({ refund_tx: null, refund_pending: "manual" });
    expect((await stage.records.read("one"))?.reason).to.match(/cancelled with the treasury's key/);
    expect((await stage.records.read("two"))?.reason).to.match(/under sanctions/);
    stage.did = [];
    await stage.time.pass(100 * MINUTE);
    expect(stage.did).to.deep.equal([]);
  });

  it("are over at once where the operator has paid it by hand before", async () => {
    await stage.records.choose("one", { byHand: "0xda" });
    await stage.begin();
    expect([stage.did, (await stage.records.readEnd("one"))?.transaction]).to.deep.equal([[], "0xda"]);
  });

  it("send nothing where the operator pays it by hand meanwhile", async () => {
    stage.check = async () => void (await stage.records.choose("one", { byHand: "0xda" }));
    await stage.begin();
    expect(stage.did).not.to.include("send");
    expect(await stage.records.readEnd("one")).to.include({ transaction: "0xda" });
  });

  it("are over for good: a second end counts for nothing, and a record that a crash has left is not open", async () => {
    for (const transaction of ["0x01", "0x02"]) await stage.records.end(toCase(), { transaction, at: 1 });
    expect(await stage.records.readEnd("one")).to.include({ transaction: "0x01" });
    await stage.records.open({ ...toCase(), openedAt: 1, state: "manual", reason: null });
    for await (const { id } of stage.records.list()) expect.fail(`${id} is open`);
    expect(await stage.refunds.status("one")).to.deep.equal({ refund_tx: "0x01", refund_pending: null });
  });

  it("are told as paid, and not as open beside it, where the end is written down while the status is read", async () => {
    stage.screened = "sanctioned";
    await stage.begin();
    const { get } = stage.store;
    stage.store.get = async <T>(key: string) => {
      const found = await get<T>(key);
      if (key === "refund-end:one") {
        stage.store.get = get; // The record was read as an open one.
        await stage.records.end(toCase(), { transaction: "0xda", at: 1 });
      }
      return found;
    };
    expect(await stage.refunds.status("one")).to.deep.equal({ refund_tx: "0xda", refund_pending: null });
  });

  it("write down why it is not paid yet, once, and as an error after an hour", async () => {
    stage.screened = new Problem("upstream-failed", "The list cannot be read");
    await stage.begin();
    expect((await stage.records.read("one"))?.reason).to.equal("The list cannot be read");
    let writes = 0;
    const { set } = stage.store;
    stage.store.set = async (key, ...rest) => {
      if (key === "refund:one") writes += 1;
      return set(key, ...rest);
    };
    for (let minute = 0; minute < 59; minute += 1) await stage.time.pass(MINUTE);
    expect([writes, stage.logged.filter((line) => line.startsWith("error"))]).to.deep.equal([0, []]);
    for (let minute = 0; minute < 22; minute += 1) await stage.time.pass(MINUTE);
    expect(stage.logged).to.include("error refund.delayed");
    expect(stage.did).not.to.include("find");
  });

  it("say that the treasury has spent the money since the transfer was signed", async () => {
    stage.send = async () => {
      stage.check = async () => {
        throw new Problem("unavailable", "The treasury has 0 USDC");
      };
      throw new Problem("upstream-failed", "The chain refused a transaction");
    };
    await stage.begin();
    expect((await stage.records.read("one"))?.reason).to.equal("The treasury has 0 USDC");
    stage.check = async () => {};
    stage.send = async () => {
      throw new Problem("upstream-failed", "The chain refused a transaction");
    };
    await stage.time.pass(MINUTE);
    expect((await stage.records.read("one"))?.reason).to.equal("The chain refused a transaction");
  });

  it("take a minute at most, and say so", async () => {
    let given: AbortSignal | undefined;
    await stage.refunds.close();
    stage.open({
      attemptMs: 0,
      screenRecipient: (_address, signal) =>
        new Promise((_resolve, reject) => {
          given = signal;
          const stop = (): void => reject(signal.reason);
          signal.addEventListener("abort", stop);
          if (signal.aborted) stop();
        }),
    });
    await stage.refunds.open(toCase());
    while (!given?.aborted) await new Promise((done) => setImmediate(done));
    await stage.time.pass(10);
    expect((await stage.records.read("one"))?.reason).to.equal("The transfer was not completed in time");
    const timeouts = mock.method(AbortSignal, "timeout");
    await stage.refunds.close();
    stage.open();
    await stage.refunds.open({ ...toCase(), id: "two" });
    await stage.time.pass(10);
    expect(timeouts.mock.calls[0]?.arguments).to.deep.equal([MINUTE]);
    timeouts.mock.restore();
  });

  it("are taken up by the next process, and once a minute by each", async () => {
    await stage.refunds.close();
    stage.settle();
    stage.open();
    const { id, service, payment } = toCase();
    const fresh = { openedAt: stage.clock.now(), reason: null } as const;
    await stage.records.open({ id, service, payment, ...fresh, state: "pending" });
    await stage.records.open({ id: "two", service, payment, ...fresh, state: "manual" });
    stage.refunds.start();
    await stage.time.pass(10);
    expect(stage.did.filter((what) => what.startsWith("sign"))).to.deep.equal([`sign one ${PAYER} 1000`]);
    await stage.records.open({ id: "three", service, payment, ...fresh, state: "pending" });
    await stage.time.pass(MINUTE - 1000);
    expect(stage.did.filter((what) => what.startsWith("sign"))).to.have.length(1);
    await stage.time.pass(2000);
    expect(stage.did.filter((what) => what.startsWith("sign"))).to.have.length(2);
  });

  it("are none where nobody can be paid, or on another rail", async () => {
    const cases: [Partial<RefundCase["payment"]>, RegExp][] = [
      [{ payer: null }, /did not say who has paid/],
      [{ payer: `${PAYER}0` }, /did not say who has paid/],
      [{ payer: `x${PAYER}` }, /did not say who has paid/],
      [{ network: "eip155:137" }, /^Payments on this network are paid back by hand$/],
      [{ asset: PAYER }, /^Payments in this token are paid back by hand$/],
    ];
    for (const [payment, reason] of cases) {
      const job = { ...toCase(payment), id: String(reason) + payment.payer };
      const { id } = job;
      const manual = { refund_tx: null, refund_pending: "manual" };
      expect(await stage.refunds.status(id, job.payment), "before it is opened").to.deep.equal(manual);
      await stage.refunds.open(job);
      const refund = await stage.records.read(id);
      expect(refund?.state).to.equal("manual");
      expect(refund?.reason).to.match(reason);
    }
    await stage.time.pass(100 * MINUTE);
    expect(stage.did).to.deep.equal([]);
  });

  it("are none on a site without `refunds`, which is named", async () => {
    await stage.refunds.close();
    stage.open({ rail: undefined });
    await stage.refunds.open(toCase());
    const { state, reason } = (await stage.records.read(toCase().id)) ?? {};
    expect({ state, reason }).to.deep.equal({
      state: "manual",
      reason: "_site.yaml has no `refunds`, so everything is paid back by hand",
    });
  });

  it("warn whoever would pay by hand what such a site has signed already", async () => {
    await stage.refunds.close();
    stage.open({ rail: undefined });
    const opened = {
      ...toCase(),
      openedAt: stage.clock.now(),
      state: "pending",
      reason: null,
    } as const;
    await stage.records.open(opened);
    await stage.records.choose("one", { signed: SIGNED });
    stage.refunds.start();
    await stage.time.pass(10);
    expect((await stage.records.read("one"))?.reason).to.match(/may be on the chain/);
  });

  it("are over a minute after the transfer was seen, though the site pays nothing back any more", async () => {
    await stage.refunds.close();
    stage.open({ rail: undefined });
    const held = { transaction: "0x2", at: stage.clock.now() + 60 * MINUTE }; // The clock was set back since.
    const opened = { ...toCase(), openedAt: held.at, state: "pending", reason: null, held } as const;
    await stage.records.open(opened);
    stage.refunds.start();
    await stage.time.pass(10);
    expect([await stage.records.readEnd("one"), stage.logged]).to.deep.equal([undefined, []]);
    await stage.time.pass(2 * MINUTE);
    expect(await stage.records.readEnd("one")).to.include({ transaction: "0x2" });
    expect([await stage.records.read("one"), stage.logged]).to.deep.equal([undefined, []]);
  });

  it("stop at the end of the process without blaming the refund", async () => {
    const reached = Promise.withResolvers<void>();
    stage.check = () => {
      reached.resolve();
      return new Promise(() => {});
    };
    const gone = Promise.withResolvers<never>();
    await stage.refunds.close();
    stage.open({
      screenRecipient: (_address, signal) => {
        signal.addEventListener("abort", () => gone.reject(signal.reason));
        reached.resolve();
        return gone.promise;
      },
    });
    await stage.refunds.open(toCase());
    await reached.promise;
    await stage.refunds.close();
    expect((await stage.records.read("one"))?.reason).to.equal(null);
    expect(stage.logged).to.deep.equal(["info refund.opened"]);
  });
});
