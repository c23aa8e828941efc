import { mock } from "node:test";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { createReconciler, type ReconcilerDeps } from "../../../runtime/core/payments/reconciler.ts";
import type { PaymentRecord } from "../../../runtime/core/payments/record.ts";
import { createReservations } from "../../../runtime/core/payments/reservations.ts";
import { createSettler, type Settler } from "../../../runtime/core/payments/settlement.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { claims, createScriptedRail, move, type ScriptedRail } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { OFFER } from "../../support/offer.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const PAYMENT = { x402Version: 2 as const, accepted: OFFER, payload: { authorization: { nonce: "0x1", from: "0x3" } } };
const TRANSACTION = `0x${"ab".repeat(32)}`;

/** A deadline of another test that was prolonged, because the process stood still, has odd milliseconds. */
const isWhole = (ms: number): boolean => ms % 1000 === 0;

describe("how long a shop waits", () => {
  let shop: Shop;
  let bounds: number[];
  beforeEach(async () => {
    shop = await openShop();
    bounds = [];
    const { timeout } = AbortSignal;
    mock.method(AbortSignal, "timeout", (ms: number) => {
      bounds.push(ms);
      return timeout.call(AbortSignal, ms);
    });
  });
  afterEach(async () => {
    mock.restoreAll();
    await shop.close();
  });

  it("for a facilitator: 10 seconds for a verification, 40 for a settlement, and up to a tenth more", async () => {
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
    expect(bounds.filter(isWhole).slice(0, 2)).to.deep.equal([11_000, 44_000]);
  });

  it("for a chain: 10 seconds for what a facilitator says has happened, and for each look, and up to a tenth more", async () => {
    expect((await shop.buy("/v1/echo", ROLL)).status).to.equal(200);
    const [look, settlement, confirmation] = [11_000, 44_000, 11_000]; // The looks share a deadline.
    expect(bounds.filter(isWhole).slice(1)).to.deep.equal([look, settlement, confirmation]);
  });

  it("for a balance: 5 seconds and up to a tenth more, at the second call at once", async () => {
    const gate = Promise.withResolvers<object>();
    shop.handler = () => gate.promise;
    const first = shop.buy("/v1/roll", ROLL);
    await eventually(() => shop.executions === 1);
    const second = shop.buy("/v1/roll", ROLL);
    await eventually(() => shop.executions === 2);
    expect(bounds.filter((ms) => ms === 5500)).to.deep.equal([5500]);
    gate.resolve({ value: 1 });
    expect([(await first).status, (await second).status]).to.deep.equal([200, 200]);
  });

  it("and tells callers when to come back: after 10 seconds to a shop without rails, after one where a call is under way", async () => {
    const answer = Promise.withResolvers<void>();
    shop.rail.script.verify = async () => {
      await answer.promise;
      return { isValid: true };
    };
    const payment = await shop.pay("/v1/roll");
    const send = (): Promise<Response> => shop.post("/v1/roll", ROLL, { "payment-signature": payment });
    const first = send();
    await eventually(() => shop.rail.asked.verify === 1);
    const second = await send();
    expect([second.status, second.headers.get("retry-after")]).to.deep.equal([409, "1"]);
    answer.resolve();
    expect((await first).status).to.equal(200);
    shop.rail.script.supported = () => {
      throw new Problem("unavailable", "no");
    };
    await shop.restart();
    const down = await shop.post("/v1/roll", {});
    expect([down.status, down.headers.get("retry-after")]).to.deep.equal([503, "10"]);
  });
});

describe("a settlement that is waited for", () => {
  let time: FrozenTime;
  let rail: ScriptedRail;
  let settler: Settler;
  beforeEach(() => {
    time = freezeTime();
    rail = createScriptedRail();
    settler = createSettler({ rails: [rail], log: silentLog });
  });
  afterEach(() => time.thaw());

  it("is looked for on the chain after five seconds of silence, and then every second until it shows", async () => {
    rail.script.settle = () => new Promise(() => {});
    const settled = settler.settle(PAYMENT, OFFER, { mustConfirm: false });
    await time.pass(4990);
    expect(rail.asked.find).to.equal(0);
    await time.pass(20);
    expect(rail.asked.find).to.equal(1);
    await time.pass(980);
    expect(rail.asked.find).to.equal(1);
    move(rail, PAYMENT, OFFER);
    await time.pass(20);
    expect(rail.asked.find).to.equal(2);
    expect(await settled).to.deep.include({ state: "settled", isFinal: true });
  });

  it("is not looked for any more once the facilitator has answered", async () => {
    await settler.settle(PAYMENT, OFFER, { mustConfirm: false });
    await time.pass(60_000);
    expect(rail.asked.find).to.equal(0);
  });

  it("names only who the facilitator says has paid", async () => {
    rail.script.settle = claims(TRANSACTION);
    rail.script.find = () => ({ state: "settled", transaction: TRANSACTION });
    const { receipt } = await settler.settle(PAYMENT, OFFER, { mustConfirm: true });
    expect(receipt).to.have.all.keys("success", "transaction", "network");
    expect((await settler.look(PAYMENT, OFFER)).receipt).to.have.all.keys("success", "transaction", "network");
  });

  it("is refused for good once the chain shows that nothing can move any more", async () => {
    rail.script.find = () => ({ state: "dead" });
    for (const mustConfirm of [true, false]) {
      rail.script.settle = (_payment, { network }) => ({ success: mustConfirm, transaction: TRANSACTION, network });
      const seen = await settler.settle(PAYMENT, OFFER, { mustConfirm });
      expect(seen).to.deep.include({ state: "rejected", isFinal: true, isReadable: true });
      expect(seen.receipt.success).to.equal(false);
    }
  });

  it("is not tried on a rail that is not there any more", async () => {
    const lost = createSettler({ rails: [], log: silentLog });
    const seen = await lost.settle(PAYMENT, OFFER, { mustConfirm: true });
    expect(seen).to.deep.include({ state: "unknown", isFinal: false, isReadable: false });
    expect(seen.receipt.errorReason).to.equal("rail_not_configured");
  });

  it("is unknown where a facilitator names another network, another amount or no transaction", async () => {
    const good = { success: true, transaction: TRANSACTION, network: "eip155:8453" };
    const none = ["", "0x 1", "0x1", TRANSACTION.slice(2), `${TRANSACTION}00`].map((transaction) => ({ transaction }));
    for (const other of [{ network: "eip155:1" }, ...none, { amount: "999" }]) {
      rail.script.settle = () => ({ ...good, ...other });
      const seen = await settler.settle(PAYMENT, OFFER, { mustConfirm: false });
      expect(seen.state, JSON.stringify(other)).to.equal("unknown");
    }
    rail.script.settle = () => ({ ...good, amount: "1000" });
    expect(await settler.settle(PAYMENT, OFFER, { mustConfirm: false })).to.deep.include({ state: "settled" });
    rail.script.settle = () => ({ ...good, transaction: TRANSACTION.toUpperCase() });
    const { receipt } = await settler.settle(PAYMENT, OFFER, { mustConfirm: false });
    expect(receipt.transaction, "as chains write it").to.equal(TRANSACTION);
  });

  it("is not called refused by a facilitator that names a transaction, or while the chain cannot be read", async () => {
    const refusal = { success: false, errorReason: "insufficient_funds", transaction: "", network: "eip155:8453" };
    rail.script.settle = () => refusal;
    expect(await settler.settle(PAYMENT, OFFER, { mustConfirm: false })).to.deep.include({ state: "rejected" });
    rail.script.find = () => Promise.reject(new Error("the node is away"));
    expect(await settler.settle(PAYMENT, OFFER, { mustConfirm: false })).to.deep.include({ state: "unknown" });
    delete rail.script.find;
    rail.script.settle = () => ({ ...refusal, transaction: "0x1" });
    expect(await settler.settle(PAYMENT, OFFER, { mustConfirm: false })).to.deep.include({ state: "unknown" });
  });
});

describe("a payment whose outcome is open", () => {
  const NOW = 1_800_000_000;
  const clock = { now: () => NOW * 1000 };
  const receipt = { success: false, transaction: "", network: "eip155:8453" };
  const settle = mock.fn<Settler["settle"]>(async () => ({ state: "unknown", receipt, isFinal: false }));
  const settler = { settle, look: async () => ({ state: "unknown" as const, receipt, isFinal: false }) };
  const never = (): never => expect.fail("nobody is to be asked");
  const duringRetry: ReconcilerDeps["duringRetry"] = (_key, _record, settle) => settle();
  const onClaim: ReconcilerDeps["onClaim"] = (_key, _record, { isTrue }) => void (isTrue || never());
  const nobody = {
    duringRetry,
    onMoved: () => {},
    beginJob: never,
    onClaim,
    onKnownLate: never,
    credits: { deliver: never, explain: never },
  };
  const reservations = createReservations({ store: createMemoryStore(clock.now), clock, onError: never });
  const reconciler = createReconciler({ ...nobody, reservations, settler, clock, log: silentLog });
  const toRecord = (state: PaymentRecord["state"], secondsLeft?: number): PaymentRecord => ({
    state,
    request: "r",
    fingerprint: "f",
    service: "roll",
    payment: PAYMENT,
    ...(secondsLeft !== undefined && { validBefore: NOW + secondsLeft }),
  });
  beforeEach(() => settle.mock.resetCalls());
  after(() => {
    reconciler.close();
    reservations.close();
  });

  it("is not settled again unless its authorization lives for more than six seconds", async () => {
    for (const [secondsLeft, times] of [
      [-10, 0],
      [0, 0],
      [6, 0],
      [7, 1],
    ] as const) {
      settle.mock.resetCalls();
      expect(await reconciler.conclude("k", toRecord("settling", secondsLeft))).to.have.property("state", "settling");
      expect(settle.mock.callCount(), `${secondsLeft} s`).to.equal(times);
    }
  });

  it("is settled again as one that may have succeeded, unless it was refused: then it is open on record first", async () => {
    await reconciler.conclude("one", toRecord("settling"));
    expect(settle.mock.calls[0]?.arguments[2]).to.deep.equal({ isAgain: true, mustConfirm: true });
    expect(await reservations.read("one")).to.equal(undefined);
    await reconciler.conclude("two", toRecord("rejected"));
    expect(settle.mock.calls[1]?.arguments[2]).to.deep.equal({ isAgain: false, mustConfirm: true });
    expect(await reservations.read("two")).to.have.property("state", "settling");
  });

  it("is not called refused while the store does not take the refusal", async () => {
    const full = { ...reservations, update: () => Promise.reject(new Problem("unavailable")) };
    const unable = createReconciler({ ...nobody, reservations: full, settler, clock, log: silentLog });
    const refusal = { state: "rejected", receipt, isFinal: true } as const;
    expect(await unable.conclusionOf("k", toRecord("settling"), refusal)).to.have.property("state", "settling");
  });

  it("is struck off the list, and nobody is asked, once it is done", async () => {
    const store = createMemoryStore(clock.now);
    const list = createReservations({ store, clock, onError: never });
    const done = { ...toRecord("settled"), isFinal: true, receipt };
    await list.begin("done", done);
    const idle = createReconciler({
      ...nobody,
      reservations: list,
      settler: { settle: never, look: never },
      clock,
      log: silentLog,
      firstMs: 1,
    });
    idle.start();
    await eventually(async () => (await store.get("open:done")) === undefined);
    expect(await list.read("done")).to.deep.equal(done);
    idle.close();
    list.close();
  });
});
