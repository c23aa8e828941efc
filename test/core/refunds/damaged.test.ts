import { expect } from "chai";
import { createRefundRecords, type RefundCase, type RefundRecords } from "../../../runtime/core/refunds/records.ts";
import type { Refunds } from "../../../runtime/core/refunds/refunds.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { damage } from "../../support/store/damage.ts";
import { openRefundDesk } from "./desk.ts";
import { failedJob, PRICE } from "./rail.ts";

const DAMAGES: Readonly<Record<string, string>> = {
  "is cut": '{"id":"0000',
  "is null": "null",
  "is a text": '"refund"',
  "has no payment": '{"id":"1","service":"investigate","openedAt":1,"state":"pending","reason":null}',
  "has a number for its amount": JSON.stringify({
    ...{ ...failedJob(), openedAt: 1, state: "pending", reason: null },
    payment: { ...failedJob().payment, amount: 5 },
  }),
};

describe("a refund whose record is damaged", () => {
  const desk = openRefundDesk();
  let data: string;
  let store: OpenStore;
  let records: RefundRecords;
  beforeEach(async () => {
    data = createFolder();
    store = await openStore({ dataDir: data });
    records = createRefundRecords(store);
  });
  afterEach(async () => {
    await desk.closeAll();
    await store.close();
  });

  const open = (refund: RefundCase): Promise<boolean> =>
    records.open({ ...refund, openedAt: Date.now(), state: "pending", reason: null });
  /** The first one in every list. */
  const first = (): RefundCase => ({ ...failedJob(), id: "00000000-0000-4000-8000-000000000000" });
  const told = (): string[] => desk.events.filter((event) => event === "refund.damaged");

  for (const [how, text] of Object.entries(DAMAGES))
    it(`does not hold up those behind it when it ${how}, and the seller is told once`, async () => {
      const [lost, other] = [first(), failedJob()];
      damage(data, `refund:${lost.id}`, text);
      await open(other);
      const refunds = desk.createProcess({ store });
      refunds.start();
      await desk.expectPaidOnce(refunds, other);
      const next = failedJob();
      await open(next); // It is found by the next sweep.
      await desk.expectPaidOnce(refunds, next);
      expect(told()).to.deep.equal(["refund.damaged"]);
      expect(await refunds.status(lost.id)).to.deep.equal({ refund_tx: null, refund_pending: "manual" });
    });

  it("is written anew from the book, and paid once", async () => {
    const [lost, other] = [first(), failedJob()];
    damage(data, `refund:${lost.id}`);
    await open(other);
    const findSold = async (id: string) => (id === lost.id ? { ...lost, at: 1 } : undefined);
    const both = [desk.createProcess({ store, findSold }), desk.createProcess({ store, findSold })];
    for (const refunds of both) refunds.start();
    for (const refunds of both) await desk.expectPaidOnce(refunds, lost);
    await desk.expectPaidOnce(both[0] as Refunds, other);
    expect(told()).to.deep.equal([]);
  });

  for (const text of ["null", "{}", '{"signed":5}'])
    it(`waits, and says which record it is, where the way of its payment is damaged: ${text}`, async () => {
      const job = failedJob();
      damage(data, `refund-way:${job.id}`, text);
      const refunds = desk.createProcess({ store });
      await refunds.open(job);
      await eventually(async () => /record "refund-way:.*damaged/.test((await records.read(job.id))?.reason ?? ""));
      expect(await desk.balanceOf(job)).to.equal(0n);
      await store.delete(`refund-way:${job.id}`);
      await desk.expectPaidOnce(refunds, job);
    });

  for (const text of ["{", "null", '"0xfe"'])
    it(`is over where the record of its end is damaged, and holds up no other one: ${text}`, async () => {
      const [lost, other] = [first(), failedJob()];
      await open(lost);
      await records.end(other, { transaction: "0xfd", at: 1 });
      damage(data, `refund-end:${lost.id}`, text);
      const refunds = desk.createProcess({ store });
      expect(await refunds.status(lost.id)).to.deep.equal({ refund_tx: null, refund_pending: null });
      expect(await records.read(lost.id)).to.equal(undefined);
      const ends: (string | null)[] = [];
      for await (const { transaction } of records.ends()) ends.push(transaction);
      expect(ends).to.have.members(["", "0xfd"]);
    });

  it("has ended as its way tells where the record of the end is damaged: by hand, or for good without a payment", async () => {
    const [paid, undone] = [first(), failedJob()];
    await records.choose(paid.id, { byHand: "0xfa" });
    await records.choose(undone.id, { undone: true });
    for (const { id } of [paid, undone]) damage(data, `refund-end:${id}`);
    const refunds = desk.createProcess({ store });
    expect(await refunds.status(paid.id)).to.deep.equal({ refund_tx: "0xfa", refund_pending: null });
    expect(await refunds.status(undone.id)).to.deep.equal({ refund_tx: null, refund_pending: null, isUndone: true });
  });

  it("is not paid a second time where it was paid before the damage", async () => {
    const lost = first();
    const refunds = desk.createProcess({ store, guardMs: 3_600_000 });
    await refunds.open(lost);
    await desk.expectPaidOnce(refunds, lost);
    await desk.closeAll();
    damage(data, `refund:${lost.id}`);
    const next = desk.createProcess({ store, findSold: async () => ({ ...lost, at: 1 }) });
    next.start();
    await desk.expectPaidOnce(next, lost);
    await eventually(async () => (await records.readEnd(lost.id)) !== undefined);
    expect(await desk.balanceOf(lost)).to.equal(PRICE);
  });
});
