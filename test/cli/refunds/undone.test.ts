import { expect } from "chai";
import { createBookAccess } from "../../../runtime/cli/monitor/book-access.ts";
import { createCheckUndone } from "../../../runtime/cli/refunds/check-undone.ts";
import { closeRefund, listRefunds } from "../../../runtime/cli/refunds/refunds.ts";
import type { BookLine } from "../../../runtime/core/books/books.ts";
import { saleId } from "../../../runtime/core/books/events.ts";
import { createReservations } from "../../../runtime/core/payments/reservations.ts";
import { createRefundRecords, type RefundCase } from "../../../runtime/core/refunds/records.ts";
import { authorizationId } from "../../../runtime/core/x402/eip3009.ts";
import { createEvmClient } from "../../../runtime/drivers/evm/client.ts";
import { createEvmSettlements } from "../../../runtime/drivers/evm/settlements.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { failedJob, openRefundRail, PRICE } from "../../core/refunds/rail.ts";
import { openRefundStage, type RefundStage } from "../../core/refunds/stage.ts";
import { ROOT } from "../../core/set/served-directory.ts";
import { toSale } from "../../support/books/sales.ts";
import { rail, site } from "../../support/chains/chains.ts";
import { createFolder } from "../../support/folder.ts";
import { problemOf } from "../../support/thrown.ts";

const SELLER = "0x5e11e5e11e5e11e5e11e5e11e5e11e5e11e5e11e";
const HOUR = 3600;

describe("payphone refunds close --undone", () => {
  const place = { dataDir: createFolder(), redisUrl: undefined };
  let stage: RefundStage;
  let store: OpenStore;
  before(async () => {
    [stage, store] = await Promise.all([openRefundStage(), openStore(place)]);
  });
  after(async () => {
    await store.close();
    await stage.chain.stop();
  });

  /** A refund of a sale. @param end seconds from now, when its authorization ends @param isMade whether the chain holds it */
  async function sell(end: number, isMade = false): Promise<RefundCase> {
    const buyer = await stage.fund(PRICE);
    const wallet = openRefundRail({ url: stage.chain.url, key: buyer.key, store });
    const { signature, authorization } = await wallet.sign(buyer.address, { to: SELLER, amount: String(PRICE) });
    if (isMade) await wallet.send({ signature, authorization }, AbortSignal.timeout(60_000));
    wallet.close();
    const validBefore = String(Math.floor(Date.now() / 1000) + end);
    const signed = { signature, authorization: { ...authorization, validBefore } };
    const job = failedJob({ payer: buyer.address, signed });
    const { network, asset, amount, transaction } = job.payment;
    const id = saleId(`${network}:${authorizationId(authorization)}`);
    const sale = toSale({ id, network, asset, amount, usd: "1.77", transaction, job: job.id });
    await store.enter(sale, { key: `sold:${job.id}`, value: 1, ttlMs: 60_000 });
    await createRefundRecords(store).open({ ...job, openedAt: Date.now(), state: "pending", reason: "Why" });
    return job;
  }

  const checkUndone = createCheckUndone(site.rails, async () => () => ({
    settlements: createEvmSettlements({ client: createEvmClient({ url: stage.chain.url, chainId: 8453 }) }),
  }));
  const close = ({ id }: RefundCase): Promise<void> => closeRefund(place, { job: id, transaction: null, checkUndone });
  const linesOf = async ({ id }: RefundCase): Promise<readonly BookLine[]> => {
    const access = createBookAccess(place);
    const books = await access.open();
    await books.refresh();
    const lines = books.find(id);
    await access.close();
    return lines;
  };
  const isListed = async ({ id }: RefundCase): Promise<boolean> =>
    (await listRefunds(place, ROOT)).some(({ job }) => job === id);

  it("ends it where the payment was not made and can be no more: its sale is taken back, and nothing is paid", async () => {
    const job = await sell(-HOUR);
    await close(job);
    expect(await isListed(job)).to.equal(false);
    expect((await linesOf(job)).map(({ kind, amount }) => `${kind} ${amount}`)).to.have.members([
      `sale ${PRICE}`,
      `reversal ${PRICE}`,
    ]);
    expect((await problemOf(close(job))).message).to.equal(`The refund of ${job.id} is over: its payment was undone`);
    const late = { signed: (job.payment as Required<typeof job.payment>).signed };
    expect(await createRefundRecords(store).choose(job.id, late)).to.deep.equal({ undone: true });
  });

  it("takes back a sale that was doubted and has counted again since", async () => {
    const job = await sell(-HOUR);
    const { network, signed } = job.payment as Required<typeof job.payment>;
    const { correctSale } = createReservations({ store, clock: { now: Date.now }, onError: () => {} });
    const key = `${network}:${authorizationId(signed.authorization)}`;
    await correctSale(key, "reversal");
    await correctSale(key, "restoration", "0xback");
    await close(job);
    const kinds = (await linesOf(job)).map(({ kind }) => kind);
    expect(kinds).to.deep.equal(["sale", "reversal", "restoration", "reversal"]);
  });

  it("is refused while the chain holds the payment, or can still get it", async () => {
    const [made, open] = [await sell(-HOUR, true), await sell(HOUR)];
    expect((await problemOf(close(made))).message).to.match(
      /^USDC on Base shows the payment in 0x\w{64}: it has to be paid back\. Where/,
    );
    expect((await problemOf(close(open))).message).to.match(
      /^The payment can still be made: its authorization is valid until 20\S+Z\. Where you know better, add --unchecked$/,
    );
    for (const job of [made, open]) expect([await isListed(job), (await linesOf(job)).length]).to.deep.equal([true, 1]);
    await closeRefund(place, { job: open.id, transaction: null });
    expect(await isListed(open)).to.equal(false);
  });

  it("is refused where no authorization tells that the payment can be made no more: on Solana", async () => {
    const { network, asset } = rail("solana");
    const job = failedJob({ network, asset });
    await createRefundRecords(store).open({ ...job, openedAt: 1, state: "manual", reason: "Why" });
    expect((await problemOf(close(job))).message).to.match(/^Only a payment by an EIP-3009 authorization/);
    expect(await isListed(job)).to.equal(true);
  });
});
