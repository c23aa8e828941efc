import { expect } from "chai";
import type { RefundCase } from "../../../runtime/core/refunds/records.ts";
import type { Eip3009 } from "../../../runtime/core/x402/eip3009.ts";
import { eventually } from "../../support/eventually.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { openRefundDesk } from "./desk.ts";
import { failedJob, openRefundRail, PRICE } from "./rail.ts";

describe("a refund of a payment that a reorganisation has taken off the chain", () => {
  const desk = openRefundDesk();
  const signal = new AbortController().signal;
  let buyer: typeof desk.treasury;
  let wallet: ReturnType<typeof openRefundRail>;
  let payment: Eip3009;
  let job: RefundCase;

  beforeEach(async () => {
    buyer = await desk.stage.fund(PRICE);
    wallet = openRefundRail({ url: desk.stage.chain.url, key: buyer.key, store: createMemoryStore() });
    payment = await wallet.sign("a purchase", { to: desk.treasury.address, amount: String(PRICE) });
    job = failedJob({ payer: buyer.address, signed: payment });
  });
  afterEach(() => wallet.close());

  /** What the buyer has, and how many transactions the treasury has sent. */
  const ends = async () => [await desk.balanceOf(job), await desk.sentBy(desk.treasury.address)];
  const whenTried = () =>
    eventually(() => desk.events.some((event) => event === "refund.delayed" || event === "refund.paid"));

  it("waits until the payment is there again", async () => {
    const refunds = desk.createProcess();
    await refunds.open(job);
    await whenTried();
    expect(await ends()).to.deep.equal([PRICE, 0]);
    await eventually(async () => /does not show the payment/.test((await desk.record(job))?.reason ?? ""));
    await wallet.send(payment, signal);
    await eventually(async () => (await refunds.status(job.id)).refund_tx !== null);
    expect(await ends()).to.deep.equal([PRICE, 1]);
  });

  it("is not sent either when it was signed before", async () => {
    const before = await desk.stage.chain.rpc("evm_snapshot", []);
    await wallet.send(payment, signal);
    desk.proxy.intervene((method) => (method === "eth_estimateGas" ? "lose" : "pass"));
    await desk.createProcess().open(job);
    await eventually(async () => (await desk.records.readWay(job.id)) !== undefined);
    await desk.closeAll();
    wallet.close(); // It would bring the payment back.
    await desk.stage.chain.rpc("evm_revert", [before]);
    desk.proxy.intervene(() => "pass");
    desk.createProcess().start();
    await eventually(async () => /does not show the payment/.test((await desk.record(job))?.reason ?? ""));
    expect(await ends()).to.deep.equal([PRICE, 0]);
  });

  it("is not made when the payer has cancelled the authorization since, which the token counts as used, too", async () => {
    await desk.stage.cancel(buyer, payment.authorization.nonce);
    await desk.createProcess().open(job);
    await whenTried();
    expect(await ends()).to.deep.equal([PRICE, 0]);
  });

  it("is not made when the payer has sent the money elsewhere since, under the same nonce", async () => {
    const { address: to } = await desk.stage.fund(0n);
    await wallet.send(await wallet.sign("a purchase", { to, amount: String(PRICE) }), signal);
    await desk.createProcess().open(job);
    await whenTried();
    expect(await ends()).to.deep.equal([0n, 0]);
  });

  it("ends without a transfer once the operator has said that it is undone for good", async () => {
    await desk.records.open({ ...job, openedAt: Date.now(), state: "pending", reason: null });
    await desk.records.choose(job.id, { undone: true }); // A command that was killed here.
    const refunds = desk.createProcess();
    refunds.start();
    await eventually(async () => (await desk.record(job)) === undefined);
    expect(await desk.records.readEnd(job.id)).to.include({ transaction: null });
    expect(await refunds.status(job.id)).to.deep.equal({
      refund_tx: null,
      refund_pending: null,
      isUndone: true,
    });
    expect(await ends()).to.deep.equal([PRICE, 0]);
  });
});
