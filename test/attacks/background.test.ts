import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import type { Credits } from "../../runtime/core/payments/credits.ts";
import { createReconciler, type ReconcilerDeps } from "../../runtime/core/payments/reconciler.ts";
import type { PaymentRecord } from "../../runtime/core/payments/record.ts";
import { createReservations, type Reservations } from "../../runtime/core/payments/reservations.ts";
import type { Settlement, Settler } from "../../runtime/core/payments/settlement.ts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import { eventually } from "../support/eventually.ts";
import { type FrozenTime, freezeTime } from "../support/frozen-time.ts";
import { OFFER } from "../support/offer.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";

const RECORD: PaymentRecord = {
  state: "settling",
  request: "r",
  fingerprint: "f",
  service: "roll",
  output: { value: 1 },
  payment: { x402Version: 2, accepted: OFFER, payload: {} },
};
const SETTLED: Settlement = {
  state: "settled",
  isFinal: true,
  receipt: { success: true, transaction: "0x1", network: "eip155:8453" },
};
const clock = { now: Date.now };
const fail = (error: unknown): never => expect.fail(String(error));
const beginJob = (): never => fail("no payment here is for a job");
const credits: Credits = { deliver: () => fail("nothing is owed here"), explain: () => fail("nothing is owed here") };
const onClaim: ReconcilerDeps["onClaim"] = (_key, _record, { isTrue }) =>
  void (isTrue || fail("nothing is claimed falsely here"));

describe("the lease of a payment", () => {
  let time: FrozenTime;
  let reservations: Reservations;
  beforeEach(() => {
    time = freezeTime();
    reservations = createReservations({ store: createMemoryStore(), clock, onError: fail, leaseMs: 500 });
  });
  afterEach(() => {
    reservations.close();
    time.thaw();
  });

  it("is needed to note a refusal: another call may be settling by now", async () => {
    await reservations.claimPayment("refused");
    await reservations.begin("refused", RECORD);
    time.stall(700);
    const noted = reservations.update("refused", { ...RECORD, state: "rejected" });
    expect(await noted.catch((error: unknown) => error)).to.have.property("code", "unavailable");
    expect(await reservations.read("refused")).to.have.property("state", "settling");
  });
});

describe("the reconciler", () => {
  const COUNT = 200;
  const open = async (settler: Partial<Settler>) => {
    const store = createMemoryStore();
    const reservations = createReservations({ store, clock, onError: fail });
    for (let at = 0; at < COUNT; at++) await reservations.begin(`eip155:8453:k${at}`, RECORD);
    const never = (): never => fail("nobody is to be asked to settle");
    const reconciler = createReconciler({
      duringRetry: (_key, _record, settle) => settle(),
      onMoved: () => {},
      reservations,
      clock,
      log: silentLog,
      credits,
      onClaim,
      onKnownLate: () => {},
      beginJob,
      firstMs: 1,
      sweepMs: 5,
      settler: { look: never, settle: never, ...settler },
    });
    const openKeys = (): number => [...store.entries.keys()].filter((key) => key.startsWith("open:")).length;
    const close = (): void => {
      reconciler.close();
      reservations.close();
    };
    return { reservations, reconciler, openKeys, close };
  };

  it("brings thousands to an end after an outage without asking for all of them at once", async () => {
    let [running, most] = [0, 0];
    const { reconciler, openKeys, close } = await open({
      async look() {
        most = Math.max(most, ++running);
        await setImmediate();
        running -= 1;
        return SETTLED;
      },
    });
    reconciler.start();
    await eventually(() => openKeys() === 0);
    expect(most).to.be.within(2, 16);
    close();
  });

  it("asks for nothing more after it was closed", async () => {
    let looks = 0;
    const answer = Promise.withResolvers<Settlement>();
    const { reconciler, openKeys, close } = await open({
      look() {
        looks += 1;
        return answer.promise;
      },
    });
    const time = freezeTime();
    reconciler.start();
    await time.pass(20);
    const seen = looks;
    expect(seen).to.be.within(1, COUNT - 1);
    close();
    answer.resolve(SETTLED);
    await time.pass(60_000);
    time.thaw();
    expect(looks).to.equal(seen);
    expect(openKeys(), "what is open stays on record").to.equal(COUNT - seen);
  });

  it("forgets what it has waited for in vain for a day", async () => {
    let now = Date.now();
    const store = createMemoryStore(() => now);
    const reservations = createReservations({ store, clock: { now: () => now }, onError: fail });
    await reservations.begin("k", RECORD);
    const unknown: Settlement = { state: "unknown", isFinal: false, receipt: { ...SETTLED.receipt, success: false } };
    const settler = { look: async () => unknown, settle: async () => unknown };
    const reconciler = createReconciler({
      duringRetry: (_key, _record, settle) => settle(),
      onMoved: () => {},
      reservations,
      settler,
      clock: { now: () => now },
      log: silentLog,
      credits,
      onClaim,
      onKnownLate: () => {},
      beginJob,
    });
    for (let hours = 0; hours < 23; hours++) {
      now += 3_600_000;
      const record = (await reservations.read("k")) ?? expect.fail(`gone after ${hours + 1} hours`);
      expect(await reconciler.conclude("k", record)).to.have.property("state", "settling");
    }
    now += 2 * 3_600_000;
    expect(await reservations.read("k")).to.equal(undefined);
    reconciler.close();
    reservations.close();
  });

  it("looks for a day, too, for what could be settled until the last moment of a long authorization", async () => {
    let now = Date.now();
    const store = createMemoryStore(() => now);
    const reservations = createReservations({ store, clock: { now: () => now }, onError: fail });
    const record = { ...RECORD, validBefore: Math.floor(now / 1000) + 86_400 };
    await reservations.begin("begun", record);
    await reservations.update("opened again", record);
    now += 47 * 3_600_000;
    for (const key of ["begun", "opened again"]) expect(await reservations.read(key)).to.deep.equal(record);
    const open: string[] = [];
    for await (const key of reservations.open()) open.push(key);
    expect(open).to.have.members(["begun", "opened again"]);
    now += 2 * 3_600_000;
    expect(await reservations.read("begun")).to.equal(undefined);
    reservations.close();
  });
});
