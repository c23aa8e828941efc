import { expect } from "chai";
import { createRefundRecords } from "../../../runtime/core/refunds/records.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { WebhookEvent } from "../../../runtime/core/webhooks/events.ts";
import type { WebhookEndpoint } from "../../../runtime/core/webhooks/outbox.ts";
import { createTroubles, type Troubles } from "../../../runtime/core/webhooks/troubles.ts";
import type { Distrust, RailStatus } from "../../../runtime/core/x402/rails.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const PAYMENT = { network: "eip155:137", asset: "0x1", amount: "5", payer: "0x2", transaction: "0x3" };

describe("troubles that receivers are told of", () => {
  let time: FrozenTime;
  let store: ReturnType<typeof createMemoryStore>;
  let statuses: Map<string, RailStatus>;
  let told: WebhookEvent[];
  /** Of the same events. */
  let receivers: string[];
  let distrusted: Distrust[];
  let fails: boolean;
  let troubles: Troubles;
  beforeEach(() => {
    time = freezeTime();
    store = createMemoryStore(Date.now);
    statuses = new Map([["base", { state: "up", extra: {} }]]);
    told = [];
    receivers = [];
    distrusted = [];
    fails = false;
    troubles = open();
  });
  afterEach(async () => {
    await troubles.close();
    time.thaw();
  });
  const open = (...more: readonly WebhookEndpoint[]): Troubles => {
    const publishTo = async (endpoint: string, event: WebhookEvent): Promise<void> => {
      if (fails) throw new Error("the store is away");
      told.push(event);
      receivers.push(endpoint);
    };
    const refunds = createRefundRecords(store);
    const clock = { now: () => Date.now() };
    const watched = { railStatuses: () => statuses, distrusted: () => distrusted };
    const endpoints = [{ id: "books" }, ...more];
    return createTroubles({ endpoints, outbox: { publishTo }, ...watched, refunds, store, clock, log: silentLog });
  };
  const types = (): string[] => told.map(({ type }) => type);

  it("are a rail that stays down for a minute, once an hour", async () => {
    troubles.start();
    statuses.set("base", { state: "down", reason: "nobody is there", since: Date.now() });
    await time.pass(50_000);
    expect(types()).to.deep.equal([]);
    await time.pass(30_000);
    expect(types()).to.deep.equal(["rail.down"]);
    expect(told[0]?.data).to.include({ rail: "base", reason: "nobody is there" });
    await time.pass(3 * 3_600_000);
    expect(types().length, "one each hour").to.be.within(3, 4);
    const gaps = told.slice(1).map(({ at }, before) => at - (told[before]?.at ?? 0));
    expect(Math.min(...gaps), "also over the border of an hour").to.be.at.least(3_600_000);
    expect(new Set(told.map(({ id }) => id)).size).to.equal(told.length);
  });

  it("are a rail that stays down for a minute while the set is changed again and again", async () => {
    statuses.set("base", { state: "down", reason: "nobody is there", since: Date.now() });
    for (let set = 0; set < 4; set += 1) {
      await troubles.close();
      troubles = open();
      troubles.start();
      await time.pass(30_000);
    }
    expect(types()).to.deep.equal(["rail.down"]);
  });

  it("are a rail that stays down for a minute, also while the clock is set back", async () => {
    troubles.start();
    statuses.set("base", { state: "down", reason: "nobody is there", since: Date.now() + 3 * 3_600_000 });
    await time.pass(90_000);
    expect(types()).to.deep.equal(["rail.down"]);
  });

  it("are a facilitator that is distrusted, at once, and again after it was trusted and has lied again", async () => {
    const doubt = { facilitator: "first", network: "eip155:8453", reason: "it lied", since: Date.now() };
    distrusted = [doubt];
    troubles.start();
    await time.pass(60_000);
    expect(types()).to.deep.equal(["facilitator.distrusted"]);
    const since = new Date(doubt.since).toISOString();
    expect(told[0]?.data).to.deep.equal({ ...doubt, since });
    distrusted = [{ ...doubt, since: Date.now() }];
    await time.pass(10_000);
    expect(types()).to.deep.equal(["facilitator.distrusted", "facilitator.distrusted"]);
  });

  it("are no rail that comes back at once", async () => {
    troubles.start();
    for (let turn = 0; turn < 5; turn += 1) {
      statuses.set("base", { state: "down", reason: "nobody is there", since: Date.now() });
      await time.pass(30_000);
      statuses.set("base", { state: "up", extra: {} });
      await time.pass(30_000);
    }
    expect(types()).to.deep.equal([]);
  });

  it("are a refund that waits for somebody, once, whatever process sees it", async () => {
    const refund = { id: "job1", service: "search", payment: PAYMENT, openedAt: 1, reason: "by hand" };
    await createRefundRecords(store).open({ ...refund, state: "manual" });
    await createRefundRecords(store).open({ ...refund, id: "job2", state: "pending" });
    fails = true;
    troubles.start();
    await time.pass(20_000);
    fails = false;
    await time.pass(20_000);
    await troubles.close();
    troubles = open();
    troubles.start();
    await time.pass(60_000);
    expect(told.map(({ id }) => id)).to.deep.equal(["refund.manual_job1"]);
    expect(told[0]?.data).to.include({ job_id: "job1", reason: "by hand", transaction: "0x3" });
  });

  it("are told to a receiver that is added later, too, if it takes their type", async () => {
    const refund = { id: "job1", service: "search", payment: PAYMENT, openedAt: 1, reason: "by hand" };
    await createRefundRecords(store).open({ ...refund, state: "manual" });
    troubles.start();
    await time.pass(20_000);
    await troubles.close();
    troubles = open({ id: "desk", events: ["refund.manual"] }, { id: "accounts", events: ["sale"] });
    troubles.start();
    await time.pass(60_000);
    expect(receivers).to.deep.equal(["books", "desk"]);
  });

  it("are looked for among the refunds during a tenth of the time at most: with Redis, a list reads all keys", async () => {
    let lists = 0;
    const { keys } = store;
    store.keys = (prefix) => {
      lists += 1;
      time.stall(3000);
      return keys(prefix);
    };
    troubles.start();
    await time.pass(0);
    await time.pass(29_000);
    expect(lists).to.equal(1);
    await time.pass(12_000);
    expect(lists).to.equal(2);
  });

  it("are a job that has failed, until it is on record", async () => {
    const job = { id: "job3", service: "search", error: "The source is gone", at: 7 };
    fails = true;
    await troubles.jobFailed(job).then(
      () => expect.fail("nothing was put on record"),
      () => {},
    );
    fails = false;
    await troubles.jobFailed(job);
    await troubles.jobFailed(job);
    expect(told).to.have.length(1);
    expect(told[0]).to.deep.include({
      type: "job.failed",
      at: 7,
      data: { job_id: "job3", service: "search", error: "The source is gone" },
    });
  });
});
