import { mock } from "node:test";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { RefundRail } from "../../../runtime/core/refunds/rail.ts";
import { createRefundRecords, type RefundCase, type RefundRecords } from "../../../runtime/core/refunds/records.ts";
import { createRefunds, type Refunds, type RefundsDeps } from "../../../runtime/core/refunds/refunds.ts";
import type { Eip3009 } from "../../../runtime/core/x402/eip3009.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const PAYER = "0x9999999999999999999999999999999999999999";
const TOKEN = "0xAAaaAAaaAAaaAAaaAAaaAAaaAAaaAAaaAAaaAAaa";
const MINUTE = 60_000;
const SIGNED = { signature: "0x5160", authorization: {} } as unknown as Eip3009; // Opaque to all but the rail.
type Found = Awaited<ReturnType<RefundRail["find"]>>;

describe("the attempts at a refund", () => {
  let time: FrozenTime;
  let store: ReturnType<typeof createMemoryStore>;
  let records: RefundRecords;
  let refunds: Refunds;
  let did: string[];
  let found: Found;
  let screened: "clear" | "sanctioned" | Error;
  let check: () => Promise<void>;
  let logged: string[];
  const clock = { now: () => Date.now() };
  const log = {
    info: (event: string) => void logged.push(`info ${event}`),
    warn: (event: string) => void logged.push(`warn ${event}`),
    error: (event: string) => void logged.push(`error ${event}`),
  };
  const rail: RefundRail = {
    ...{ network: "eip155:8453", asset: TOKEN },
    async check({ to, amount }) {
      did.push(`check ${to} ${amount}`);
      await check();
    },
    async sign(id, { to, amount }) {
      did.push(`sign ${id} ${to} ${amount}`);
      return SIGNED;
    },
    async find() {
      did.push("find");
      return found;
    },
    async send() {
      did.push("send");
    },
  };
  const open = (more: Partial<RefundsDeps> = {}): void => {
    const screenRecipient = async (): Promise<"clear" | "sanctioned"> => {
      did.push("screen");
      if (screened instanceof Error) throw screened;
      return screened;
    };
    refunds = createRefunds({ ...{ store, clock, log, rail, screenRecipient }, ...more });
  };
  const toCase = (payment: Partial<RefundCase["payment"]> = {}): RefundCase => ({
    ...{ id: "one", service: "search" },
    payment: {
      ...{ network: "eip155:8453", asset: TOKEN.toLowerCase(), amount: "1000", payer: PAYER, transaction: "0x1" },
      ...payment,
    },
  });
  beforeEach(() => {
    time = freezeTime();
    store = createMemoryStore(clock.now);
    records = createRefundRecords(store);
    [did, found, screened, check, logged] = [[], { state: "open" }, "clear", async () => {}, []];
    open();
  });
  afterEach(async () => {
    await refunds.close();
    time.thaw();
  });
  const settle = (transaction = "0xfe"): void => {
    found = { state: "settled", transaction };
  };

  it("screen, check, sign, put on record, look, send and look, in this order", async () => {
    await refunds.open(toCase());
    await time.pass(10);
    expect(did).to.deep.equal(["screen", `check ${PAYER} 1000`, `sign one ${PAYER} 1000`, ...["find", "send", "find"]]);
    expect(await records.readWay("one")).to.deep.equal({ signed: SIGNED });
    expect(await records.read("one")).to.include({ reason: "The transfer was sent, and is in no block yet" });
    expect(logged).to.deep.equal(["info refund.opened", "warn refund.delayed"]);
  });

  it("come after 2, 4, 8 … seconds, ten minutes at most, and go on with what was signed", async () => {
    await refunds.open(toCase());
    await time.pass(10);
    const waits: number[] = [];
    for (let attempt = 0; attempt < 11; attempt += 1) {
      did = [];
      let waitedMs = 0;
      while (did.length === 0 && waitedMs < 20 * MINUTE) {
        await time.pass(1000);
        waitedMs += 1000;
      }
      expect(did).to.deep.equal(["find", "send", "find"]);
      waits.push(Math.round(waitedMs / 1000));
    }
    const wanted = [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600];
    for (const [at, wait] of waits.entries())
      expect(wait, String(at)).to.be.within((wanted[at] ?? 0) - 1, (wanted[at] ?? 0) + 1);
  });

  it("tell of the transfer as soon as it is in a block, and watch it for a minute before they are over", async () => {
    settle();
    await refunds.open(toCase());
    await time.pass(10);
    expect(did.slice(3), "it was sent by an earlier attempt").to.deep.equal(["find"]);
    expect(await refunds.status("one")).to.deep.equal({ refund_tx: "0xfe", refund_pending: null });
    expect(await records.readEnd("one")).to.equal(undefined);
    await time.pass(MINUTE - 1000);
    expect(did.slice(3)).to.deep.equal(["find"]);
    await time.pass(2000);
    expect(did.slice(3)).to.deep.equal(["find", "find"]);
    expect(await records.readEnd("one")).to.include({ transaction: "0xfe", refund_tx: "0xfe" });
    expect(await store.get("refund:one")).to.equal(undefined);
    expect(await refunds.status("one")).to.deep.equal({ refund_tx: "0xfe", refund_pending: null });
    await time.pass(100 * MINUTE);
    expect(did).to.have.length(5);
  });

  it("watch for another minute when the transfer is in another transaction now", async () => {
    settle("0x01");
    await refunds.open(toCase());
    await time.pass(10);
    settle("0x02");
    await time.pass(MINUTE + 1000);
    expect(await records.readEnd("one")).to.equal(undefined);
    expect(await refunds.status("one")).to.include({ refund_tx: "0x02" });
    await time.pass(MINUTE + 1000);
    expect(await records.readEnd("one")).to.include({ transaction: "0x02" });
  });

  it("watch for the whole minute, also when another process looks before it is over", async () => {
    settle();
    await refunds.open(toCase());
    await time.pass(30_000);
    await refunds.close();
    open();
    refunds.start();
    await time.pass(20_000);
    expect(did.slice(3)).to.deep.equal(["find", "find"]);
    expect(await records.readEnd("one")).to.equal(undefined);
    await time.pass(MINUTE);
    expect(await records.readEnd("one")).to.include({ transaction: "0xfe" });
  });

  it("take back what they told when a reorganisation has taken the transfer, and send it again", async () => {
    settle();
    await refunds.open(toCase());
    await time.pass(10);
    found = { state: "open" };
    did = [];
    await time.pass(MINUTE + 1000);
    expect(did.slice(0, 3)).to.deep.equal(["find", "send", "find"]);
    expect(logged).to.include("warn refund.taken-back");
    expect(await refunds.status("one")).to.deep.equal({ refund_tx: null, refund_pending: null });
  });

  it("leave it to a person when the authorization was cancelled, or the payer is under sanctions", async () => {
    found = { state: "dead" };
    await refunds.open(toCase());
    await time.pass(10);
    screened = "sanctioned";
    await refunds.open({ ...toCase(), id: "two" });
    await time.pass(10);
    for (const id of ["one", "two"])
      expect(await refunds.status(id)).to.deep.equal({ refund_tx: null, refund_pending: "manual" });
    expect((await records.read("one"))?.reason).to.match(/cancelled with the treasury's key/);
    expect((await records.read("two"))?.reason).to.match(/under sanctions/);
    did = [];
    await time.pass(100 * MINUTE);
    expect(did).to.deep.equal([]);
  });

  it("are over at once where the operator has paid it by hand before", async () => {
    await records.choose("one", { byHand: "0xda" });
    await refunds.open(toCase());
    await time.pass(10);
    expect([did, await records.readEnd("one")]).to.deep.equal([
      [],
      { transaction: "0xda", refund_tx: "0xda", at: (await records.readEnd("one"))?.at },
    ]);
  });

  it("write down why it is not paid yet, once, and as an error after an hour", async () => {
    screened = new Problem("upstream-failed", "The list cannot be read");
    await refunds.open(toCase());
    await time.pass(10);
    expect((await records.read("one"))?.reason).to.equal("The list cannot be read");
    let writes = 0;
    const { set } = store;
    store.set = async (key, ...rest) => {
      if (key === "refund:one") writes += 1;
      return set(key, ...rest);
    };
    for (let minute = 0; minute < 59; minute += 1) await time.pass(MINUTE);
    expect([writes, logged.filter((line) => line.startsWith("error"))]).to.deep.equal([0, []]);
    for (let minute = 0; minute < 22; minute += 1) await time.pass(MINUTE);
    expect(logged).to.include("error refund.delayed");
    expect(did).not.to.include("find");
  });

  it("take a minute at most, and say so", async () => {
    let given: AbortSignal | undefined;
    await refunds.close();
    open({
      attemptMs: 0,
      screenRecipient: (_address, signal) =>
        new Promise((_resolve, reject) => {
          given = signal;
          const stop = (): void => reject(signal.reason);
          signal.addEventListener("abort", stop);
          if (signal.aborted) stop();
        }),
    });
    await refunds.open(toCase());
    while (!given?.aborted) await new Promise((done) => setImmediate(done));
    await time.pass(10);
    expect((await records.read("one"))?.reason).to.equal("The transfer was not completed in time");
    const timeouts = mock.method(AbortSignal, "timeout");
    await refunds.close();
    open();
    await refunds.open({ ...toCase(), id: "two" });
    await time.pass(10);
    expect(timeouts.mock.calls[0]?.arguments).to.deep.equal([MINUTE]);
    timeouts.mock.restore();
  });

  it("are taken up by the next process, and once a minute by each", async () => {
    await refunds.close();
    settle();
    open();
    const { id, service, payment } = toCase();
    const fresh = { openedAt: clock.now(), isOnRail: true, reason: null } as const;
    await records.open({ id, service, payment, ...fresh, state: "pending" });
    await records.open({ id: "two", service, payment, ...fresh, state: "manual" });
    refunds.start();
    await time.pass(10);
    expect(did.filter((what) => what.startsWith("sign"))).to.deep.equal([`sign one ${PAYER} 1000`]);
    await records.open({ id: "three", service, payment, ...fresh, state: "pending" });
    await time.pass(MINUTE - 1000);
    expect(did.filter((what) => what.startsWith("sign"))).to.have.length(1);
    await time.pass(2000);
    expect(did.filter((what) => what.startsWith("sign"))).to.have.length(2);
  });

  it("are none where nobody can be paid, or on another rail", async () => {
    const cases: [Partial<RefundCase["payment"]>, RegExp][] = [
      [{ payer: null }, /did not say who has paid/],
      [{ payer: `${PAYER}0` }, /did not say who has paid/],
      [{ payer: `x${PAYER}` }, /did not say who has paid/],
      [{ network: "eip155:137" }, /^Payments on this network are paid back by hand$/],
      [{ asset: PAYER }, /^Payments in this token are paid back by hand$/],
    ];
    for (const [at, [payment, reason]] of cases.entries()) {
      await refunds.open({ ...toCase(payment), id: String(at) });
      const refund = await records.read(String(at));
      expect(refund?.state).to.equal("manual");
      expect(refund?.reason).to.match(reason);
      expect(refund?.isOnRail).to.equal(at < 3);
    }
    await time.pass(100 * MINUTE);
    expect(did).to.deep.equal([]);
  });

  it("wait on a site that does not pay back in this token any more", async () => {
    await refunds.close();
    open({ rail: undefined });
    await records.open({ ...toCase(), openedAt: clock.now(), isOnRail: true, state: "pending", reason: null });
    refunds.start();
    await time.pass(10);
    expect((await records.read("one"))?.reason).to.equal("This site does not make refunds in this token any more");
    expect((await records.read("one"))?.state).to.equal("pending");
  });

  it("stop at the end of the process without blaming the refund", async () => {
    const reached = Promise.withResolvers<void>();
    check = () => {
      reached.resolve();
      return new Promise(() => {});
    };
    const gone = Promise.withResolvers<never>();
    await refunds.close();
    open({
      screenRecipient: (_address, signal) => {
        signal.addEventListener("abort", () => gone.reject(signal.reason));
        reached.resolve();
        return gone.promise;
      },
    });
    await refunds.open(toCase());
    await reached.promise;
    await refunds.close();
    expect((await records.read("one"))?.reason).to.equal(null);
    expect(logged).to.deep.equal(["info refund.opened"]);
  });
});
