import { expect } from "chai";
import { createJobRecords } from "../../../runtime/core/jobs/records.ts";
import type { VerifiedPurchase } from "../../../runtime/core/payments/purchase.ts";
import { createRefundRecords, type OpenRefund } from "../../../runtime/core/refunds/records.ts";
import { createPurchaseList } from "../../../runtime/core/wallets/purchases.ts";
import { isAway, refuses } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openShop, ROLL } from "../../support/sellers/shop.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const NETWORK = "eip155:8453";
const PAYER = "0x1111111111111111111111111111111111111111";
const OFFER = { network: NETWORK, asset: PAYER, amount: "1000" };
const BOUGHT = { payer: PAYER, offer: OFFER, key: "key", service: { manifest: { id: "echo" } } };
const REFUND = {
  id: "refund",
  service: "echo",
  payment: { network: NETWORK, asset: PAYER, amount: "1000", payer: PAYER, transaction: "0xfd" },
  openedAt: 0,
  state: "manual",
  reason: "Payments on this network are paid back by hand",
} as OpenRefund;

/** A store that does not set these keys. */
function failing(isRefused: (key: string) => boolean): ReturnType<typeof createMemoryStore> {
  const store = createMemoryStore();
  const set: typeof store.set = async (key, ...terms) => {
    if (isRefused(key)) throw new Error("the disk is full");
    return store.set(key, ...terms);
  };
  return { ...store, set };
}

describe("a wallet's purchase whose work has failed for good", () => {
  const store = createMemoryStore();
  const refunds = createRefundRecords(store);
  const list = createPurchaseList({ store, clock: { now: () => 1_700_000_000_000 } });
  const states = async (): Promise<string[]> =>
    (await list.list([`${NETWORK}:${PAYER}`], 10)).map(({ state }) => state);

  it("is called paid back when the money has moved, and not while it is owed", async () => {
    await list.place(BOUGHT as unknown as VerifiedPurchase)();
    const owed = { id: REFUND.id, isPaidBack: true };
    await store.set("payment:key", { state: "settled", payment: { accepted: OFFER }, owed });
    expect(await states(), "before the refund is on record").to.deep.equal(["paid"]);
    await refunds.open(REFUND);
    expect(await states(), "by hand").to.deep.equal(["paid"]);
    await refunds.update({ ...REFUND, held: { transaction: "0xfe", at: 0 } });
    expect(await states(), "in a block").to.deep.equal(["paid-back"]);
    await refunds.update(REFUND);
    expect(await states(), "after a reorganization").to.deep.equal(["paid"]);
    await refunds.end(REFUND, { transaction: "0xff", at: 0 });
    expect(await states(), "for good").to.deep.equal(["paid-back"]);
  });
});

describe("a wallet's job", () => {
  const store = createMemoryStore();
  const clock = { now: () => 1_700_000_000_000 };
  const jobs = createJobRecords({ store, clock });
  const refunds = createRefundRecords(store);
  const list = createPurchaseList({ store, clock });
  const output = { job_id: "job", status: "accepted", status_url: "https://pay.example.com/v1/job/job" };
  const job = "refund";
  const states = async (): Promise<string[]> => {
    const found = await list.list([`${NETWORK}:${PAYER}`], 10);
    for (const { job_id, answer } of found) expect({ job_id, answer }).to.deep.equal({ job_id: job, answer: output });
    return found.map(({ state }) => state);
  };
  beforeEach(async () => {
    store.entries.clear();
    await store.set("payment:key", { state: "settled", payment: { accepted: OFFER }, output, job });
    await list.place(BOUGHT as unknown as VerifiedPurchase)();
  });

  it("is called delivered when it is, and not when it is accepted", async () => {
    expect(await states()).to.deep.equal(["paid"]);
    await jobs.end(job, { state: "DELIVERED", at: 0, deliverable: {} });
    expect(await states()).to.deep.equal(["delivered"]);
  });

  it("is called paid back when its refund is on the chain, and not when it has failed", async () => {
    await jobs.end(job, { state: "FAILED", at: 0, error: "no" });
    await refunds.open(REFUND);
    expect(await states()).to.deep.equal(["paid"]);
    await refunds.end(REFUND, { transaction: "0xff", at: 0 });
    expect(await states()).to.deep.equal(["paid-back"]);
  });

  it("is none where a reorganisation has undone its payment for good", async () => {
    await jobs.end(job, { state: "FAILED", at: 0, error: "no" });
    const to = "0x5e11e5e11e5e11e5e11e5e11e5e11e5e11e5e11e";
    const authorization = { from: to, to, value: "1000", validAfter: "0", validBefore: "1", nonce: "0x01" } as const;
    const payment = { ...REFUND.payment, signed: { signature: "0x" as const, authorization } };
    await refunds.end({ ...REFUND, payment }, { transaction: null, at: 0 });
    expect(await states()).to.deep.equal([]);
  });
});

describe("a list of large purchases", () => {
  const store = createMemoryStore();
  const list = createPurchaseList({ store, clock: { now: () => 1_700_000_000_000 } });
  const answer = { media: "application/pdf", data: "A".repeat(6 * 1024 * 1024) };
  before(async () => {
    for (const key of ["1", "2", "3", "4"]) {
      await store.set(`payment:${key}`, { state: "settled", payment: { accepted: OFFER }, output: answer });
      await list.place({ ...BOUGHT, key } as unknown as VerifiedPurchase)();
    }
  });
  const answered = async (shown?: { answers: boolean }): Promise<boolean[]> =>
    (await list.list([`${NETWORK}:${PAYER}`], 10, shown)).map((one) => one.answer !== null);

  it("has the newest answers that fit, and the others are read one by one", async () => {
    expect(await answered()).to.deep.equal([true, true, false, false]);
    const [oldest] = (await list.list([`${NETWORK}:${PAYER}`], 10)).slice(-1);
    const read = await list.read([`${NETWORK}:${PAYER}`], oldest?.id ?? "");
    expect(read?.answer).to.deep.equal(answer);
  });

  it("holds no answer that was not asked for", async () => {
    expect(await answered({ answers: false })).to.deep.equal([false, false, false, false]);
  });

  it("lets other work run after each of them", async () => {
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    await answered({ answers: false });
    clearImmediate(next);
    expect(turns).to.be.at.least(4);
  });
});

describe("a wallet's list", () => {
  it("never shows a payment that was refused for good, also when its record has expired", async () => {
    const shop = await openShop({ patience: { confirmAfterMs: 1 } });
    const list = createPurchaseList(shop);
    const states = async (): Promise<string[]> =>
      (await list.list([`${NETWORK}:${PAYER}`], 10)).map(({ state }) => state);
    try {
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
      shop.rail.script.settle = refuses();
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(402);
      expect(await states()).to.deep.equal(["delivered"]);
      shop.rail.script.find = () => ({ state: "dead" });
      await eventually(() => ![...shop.store.entries.keys()].some((key) => key.startsWith("open:")));
      shop.clock.advance(25 * 60 * 60_000);
      expect(await states(), "only the other one was bought").to.deep.equal(["forgotten"]);
    } finally {
      await shop.close();
    }
  });

  it("has no answer of a payment that is not known to have moved", async () => {
    const shop = await openShop();
    try {
      shop.rail.script.settle = () => Promise.reject(new Error("the facilitator broke off"));
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(503);
      const [bought] = await createPurchaseList(shop).list([`${NETWORK}:${PAYER}`], 10);
      expect(bought).to.include({ state: "settling", answer: null });
    } finally {
      await shop.close();
    }
  });

  it("goes on showing a payment that moved after it was refused, also when its record has expired", async () => {
    const shop = await openShop({ patience: { confirmAfterMs: 1 } });
    const list = createPurchaseList(shop);
    try {
      shop.rail.script.settle = refuses();
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(402);
      shop.rail.script.find = () => ({ state: "settled", transaction: `0x${"ab".repeat(32)}` });
      await eventually(() => ![...shop.store.entries.keys()].some((key) => key.startsWith("open:")));
      shop.clock.advance(25 * 60 * 60_000);
      const states = (await list.list([`${NETWORK}:${PAYER}`], 10)).map(({ state }) => state);
      expect(states).to.deep.equal(["forgotten"]);
    } finally {
      await shop.close();
    }
  });

  it("shows a payment once that was settled later, also when its process has died before it was listed", async () => {
    let isDead = true;
    const shop = await openShop({ store: failing((key) => isDead && key.startsWith("bought:")) });
    const list = createPurchaseList(shop);
    const states = async (): Promise<string[]> =>
      (await list.list([`${NETWORK}:${PAYER}`], 10)).map(({ state }) => state);
    try {
      shop.rail.script.settle = isAway;
      const payments = [await shop.pay("/v1/roll"), await shop.pay("/v1/roll")];
      for (const payment of payments) {
        expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(503);
        isDead = false;
      }
      expect(await states()).to.deep.equal(["settling"]);
      delete shop.rail.script.settle;
      for (const payment of payments) expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(200);
      await eventually(async () => (await states()).length > 1);
      expect(await states()).to.deep.equal(["delivered", "delivered"]);
    } finally {
      await shop.close();
    }
  });

  it("shows a purchase that the store has refused to list, once it takes it", async () => {
    let isRefused = true;
    const shop = await openShop({ store: failing((key) => isRefused && key.startsWith("bought:")) });
    const list = createPurchaseList(shop);
    const states = async (): Promise<string[]> =>
      (await list.list([`${NETWORK}:${PAYER}`], 10)).map(({ state }) => state);
    try {
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
      expect(await states()).to.deep.equal([]);
      isRefused = false;
      await eventually(states, (shown) => shown.length > 0);
      expect(await states()).to.deep.equal(["delivered"]);
    } finally {
      await shop.close();
    }
  });

  it("shows a payment whose place among the open ones was refused, once it is settled", async () => {
    let isRefused = true;
    const shop = await openShop({ store: failing((key) => isRefused && key.startsWith("open:")) });
    const list = createPurchaseList(shop);
    try {
      const payment = await shop.pay("/v1/roll");
      expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(503);
      isRefused = false;
      await eventually(async () => (await shop.retry("/v1/roll", ROLL, payment)).status === 200);
      await eventually(async () => (await list.list([`${NETWORK}:${PAYER}`], 10))[0]?.state === "delivered");
    } finally {
      await shop.close();
    }
  });
});
