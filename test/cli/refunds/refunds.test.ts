import { join } from "node:path";
import { expect } from "chai";
import { closeRefund, listRefunds } from "../../../runtime/cli/refunds/refunds.ts";
import { toRefundTable, toRow } from "../../../runtime/cli/refunds/text.ts";
import type { RefundRail } from "../../../runtime/core/refunds/rail.ts";
import { createRefundRecords, type OpenRefund, type RefundCase } from "../../../runtime/core/refunds/records.ts";
import { createRefunds, type Refunds } from "../../../runtime/core/refunds/refunds.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openStore, type StoreOptions } from "../../../runtime/drivers/store/open-store.ts";
import { failedJob, openRefundRail } from "../../core/refunds/rail.ts";
import { rail, site } from "../../support/chains/chains.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { withRedis } from "../../support/programs.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";

const ROOT = join(import.meta.dirname, "../../..");
const EVM_TX = `0x${"ab".repeat(32)}`;
const SOLANA_TX = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW";
const NOWHERE = "http://127.0.0.1:9";
const { network, asset } = rail("solana");
const ON_SOLANA = { network, asset, payer: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin" };

/** The message of a refused command. */
const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => expect.fail("was not refused"),
    (error: Error & { code: string }) => `${error.code}: ${error.message}`,
  );

/** @param prepare creates an empty store. */
function testRefunds(where: string, prepare: () => Promise<StoreOptions>): void {
  describe(`payphone refunds, beside a server with its store in ${where}`, () => {
    let options: StoreOptions;
    let config: { dataDir: string; redisUrl: string | undefined };
    let store: OpenStore;
    let server: Refunds;
    let refundRail: RefundRail & { close(): void };
    beforeEach(async () => {
      options = await prepare();
      config = { redisUrl: undefined, ...options };
      store = await openStore(options);
      refundRail = openRefundRail({ url: NOWHERE, key: `0x${"1".repeat(64)}`, store });
      let now = Date.now();
      server = createRefunds({
        store,
        clock: { now: () => now++ },
        log: silentLog,
        rail: refundRail,
        screenRecipient: () => Promise.reject(new Error("nobody is there")),
        firstMs: 20,
        sweepMs: 50,
      });
      server.start();
    });
    afterEach(async () => {
      await server.close();
      refundRail.close();
      for await (const key of store.keys("refund")) await store.delete(key);
      await store.close();
    });

    const list = () => listRefunds(config, ROOT);
    const close = ({ id }: RefundCase, transaction = EVM_TX) => closeRefund(config, { job: id, transaction });
    const openOn = async (payment: Partial<RefundCase["payment"]> = {}): Promise<RefundCase> => {
      const job = failedJob(payment);
      await server.open(job);
      return job;
    };

    it("lists what waits for a person and what waits for better times, the oldest first", async () => {
      const first = await openOn(ON_SOLANA);
      const second = await openOn();
      await eventually(async () => (await createRefundRecords(store).read(second.id))?.reason !== null);
      const [manual, pending, ...more] = await list();
      expect(more).to.deep.equal([]);
      expect(manual).to.deep.include({ job: first.id, service: "investigate", amount: "1.77", symbol: "USDC" });
      expect(manual).to.deep.include({ network, payer: ON_SOLANA.payer, payment_tx: first.payment.transaction });
      expect(manual).to.deep.include({ state: "manual", reason: "Payments on this network are paid back by hand" });
      expect(pending).to.deep.include({ job: second.id, state: "pending", reason: "Something went wrong on our side" });
      expect(Date.parse(pending?.since ?? "")).to.be.closeTo(Date.now(), 60_000);
    });

    it("shows yen as yen, and the atomic units of a token that the site does not know", async () => {
      const { network, asset } = rail("polygon");
      await openOn({ network, asset, amount: "350000000000000000000" });
      await openOn({ asset });
      expect((await list()).map(({ amount, symbol }) => `${amount} ${symbol}`)).to.deep.equal([
        "350 JPYC",
        `1770000 atomic units of ${asset}`,
      ]);
    });

    it("closes a manual one with the transaction that has paid it, which its buyer is told, on whatever rail", async () => {
      const [onBase, onSolana] = [await openOn({ payer: null }), await openOn(ON_SOLANA)];
      await close(onBase, EVM_TX.toUpperCase());
      await close(onSolana, SOLANA_TX);
      expect(await list()).to.deep.equal([]);
      expect(await server.status(onBase.id)).to.deep.equal({ refund_tx: EVM_TX, refund_pending: null });
      expect(await server.status(onSolana.id)).to.deep.equal({ refund_tx: SOLANA_TX, refund_pending: null });
      expect(await createRefundRecords(store).readEnd(onSolana.id)).to.include({ transaction: SOLANA_TX });
      const late = { signed: await refundRail.sign(onBase.id, { to: `0x${"1".repeat(40)}`, amount: "1" }) };
      expect(await createRefundRecords(store).choose(onBase.id, late)).to.deep.equal({ byHand: EVM_TX });
    });

    it("closes a pending one that nothing was signed for, and the server pays it never", async () => {
      const job = await openOn();
      await close(job);
      await server.open(job);
      expect(await server.status(job.id)).to.deep.equal({ refund_tx: EVM_TX, refund_pending: null });
      expect(await createRefundRecords(store).readWay(job.id)).to.deep.equal({ byHand: EVM_TX });
      expect(await list()).to.deep.equal([]);
    });

    it("does not close what is signed already, and says what it waits for, and what to cancel to pay it by hand", async () => {
      const job = await openOn();
      const records = createRefundRecords(store);
      const transfer = { to: job.payment.payer as string, amount: job.payment.amount };
      const signed = await refundRail.sign(job.id, transfer);
      await records.choose(job.id, { signed });
      await eventually(async () => (await records.read(job.id))?.reason?.includes("chain"));
      const refusal = await refusalOf(close(job));
      expect(refusal).to.match(
        /^payment-conflict: The refund of .* is signed: payphone makes it itself once this is mended: The Base chain could not/,
      );
      const { from, nonce } = signed.authorization;
      expect(refusal).to.include(`To pay it by hand, first cancel the authorization ${nonce} of ${from} at the token`);
      expect(await list()).to.have.length(1);
    });

    it("says what is wrong with a job or a transaction", async () => {
      const job = await openOn(ON_SOLANA);
      expect(await refusalOf(close(job))).to.match(/^bad-request: "0xab.*" is no transaction of solana:/);
      expect(await refusalOf(close(await openOn({ payer: null }), SOLANA_TX))).to.match(
        /^bad-request: .* of eip155:8453/,
      );
      const paidSo = await openOn({ payer: null, transaction: EVM_TX });
      expect(await refusalOf(close(paidSo, EVM_TX.toUpperCase()))).to.match(
        /^bad-request: 0xab\w+ is the payment itself/,
      );
      expect(await refusalOf(close(failedJob()))).to.match(/^not-found: No refund of a job .* is open/);
      await close(job, SOLANA_TX);
      expect(await refusalOf(close(job, SOLANA_TX))).to.match(
        /^not-found: The refund of .* is over: it was paid by 5VE/,
      );
    });
  });
}

describe("payphone refunds", () => {
  let folder: string;
  before(() => {
    folder = createFolder();
  });

  it("says that there is nothing where it was told to look, instead of that all is well", async () => {
    const config = { dataDir: join(folder, "nowhere"), redisUrl: undefined };
    expect(await refusalOf(listRefunds(config, ROOT))).to.match(/^bad-request: There is no .*nowhere: .* set PAYPHONE/);
  });

  it("says that the store cannot be reached", async () => {
    const config = { dataDir: folder, redisUrl: "redis://user:secret@127.0.0.1:9/0" };
    const refusal = await refusalOf(listRefunds(config, ROOT));
    expect(refusal).to.match(/^unavailable: Redis at 127\.0\.0\.1:9 cannot be reached/);
    expect(refusal).not.to.contain("secret");
  });

  it("prints a line for each, without control characters", () => {
    const { id, service, payment } = failedJob({ ...ON_SOLANA, payer: "\u001b[31mred" });
    const refund: OpenRefund = { id, service, payment, openedAt: 0, state: "manual", reason: "Why" };
    const row = `${id}  investigate  1.77 USDC  ${network}   [31mred  1970-01-01T00:00:00.000Z  manual  Why`;
    const lines = toRefundTable([toRow(refund, site.rails)]).split("\n");
    expect(lines[0]).to.match(/^job +service +amount +network +payer +since +state +reason$/);
    expect(lines[1]).to.equal(row);
  });
});

testRefunds("a file", async () => {
  const dataDir = createFolder();
  return { dataDir };
});

withRedis.describe("with Redis", () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());
  testRefunds("Redis", async () => ({ dataDir: "/nowhere", redisUrl: redis.url }));
});
