import { randomBytes } from "node:crypto";
import { expect } from "chai";
import type { Hex } from "viem";
import { createCheckPaid } from "../../../runtime/cli/refunds/check-paid.ts";
import { closeRefund } from "../../../runtime/cli/refunds/refunds.ts";
import type { Transfer } from "../../../runtime/core/books/audit.ts";
import { createRefundRecords, type RefundCase, type RefundEnd } from "../../../runtime/core/refunds/records.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { SIGNED } from "../../core/refunds/attempts.ts";
import { failedJob, PRICE } from "../../core/refunds/rail.ts";
import { sharedSandbox, site, type TestSandbox } from "../../support/chains/chains.ts";
import { type Ran, runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { damage } from "../../support/store/damage.ts";
import { problemOf } from "../../support/thrown.ts";

describe("payphone refunds close", () => {
  const data = createFolder();
  let sandbox: TestSandbox;
  before(async () => {
    sandbox = await sharedSandbox();
  });

  const run = (env: Readonly<Record<string, string>>, ...args: string[]): Promise<Ran> =>
    runPayphone(["refunds", ...args], { ...sandbox.env, PAYPHONE_DATA_DIR: data, ...env });
  const close = (job: string, transaction: string, ...args: string[]): Promise<Ran> =>
    run({}, "close", job, "--tx", transaction, ...args);
  const openJobs = async (payers: readonly string[]): Promise<RefundCase[]> => {
    const store = await openStore({ dataDir: data });
    const cases = payers.map((payer) => failedJob({ payer }));
    const terms = { openedAt: 1, state: "manual", reason: "Why" } as const;
    for (const one of cases) await createRefundRecords(store).open({ ...one, ...terms });
    await store.close();
    return cases;
  };
  /** Sends USDC on Base. @returns the transaction */
  const send = async (to: string, amount: bigint): Promise<string> => {
    await sandbox.usdc.mint(to, amount);
    const [log] = (await sandbox.base.rpc("eth_getLogs", [
      { address: sandbox.usdc.address, fromBlock: "0x0", topics: [null, null, `0x${to.slice(2).padStart(64, "0")}`] },
    ])) as { transactionHash: string }[];
    return log?.transactionHash as string;
  };
  const someone = (): Hex => `0x${randomBytes(20).toString("hex")}`;

  it("takes the transaction that has paid the buyer, and not one that has paid less, or somebody else", async () => {
    const [poor, other, good] = [someone(), someone(), someone()];
    const [tooLittle, paid] = [await send(poor, PRICE - 1n), await send(good, PRICE)];
    const [short, strange, right] = await openJobs([poor, other, good]);
    const little = await close(short?.id as string, tooLittle);
    expect(little.code, little.out).to.equal(2);
    expect(little.err).to.include(`that ${tooLittle} pays 1.769999 USDC to ${poor}; 1.77 USDC is owed.`);
    expect(little.err).to.include("add --unchecked");
    expect((await close(strange?.id as string, paid)).err).to.include(`pays 0 USDC to ${other}; 1.77 USDC is owed`);
    const { code, err } = await close(right?.id as string, paid);
    expect([code, err]).to.deep.equal([0, ""]);
  });

  it("takes one transaction for as many refunds as it has paid", async () => {
    const buyer = someone();
    const jobs = await openJobs([buyer, buyer.toUpperCase().replace("X", "x"), buyer]);
    const paid = await send(buyer, 2n * PRICE);
    const ran: Ran[] = [];
    for (const { id } of jobs) ran.push(await close(id, paid));
    expect(ran.map(({ code }) => code)).to.deep.equal([0, 0, 2]);
    expect(ran[2]?.err).to.include("pays 3.54 USDC to");
    expect(ran[2]?.err).to.include("and other refunds of 3.54 USDC are noted with it; 1.77 USDC is owed");
  });

  it("takes the operator's word where that is insisted on, and only then where no chain can be asked", async () => {
    const [first, second] = await openJobs([someone(), someone()]);
    const nowhere = `0x${"cd".repeat(32)}`;
    const unset = await run({ BASE_RPC_URL: "" }, "close", first?.id as string, "--tx", nowhere);
    expect([unset.code, unset.err]).to.deep.equal([
      2,
      "payphone: The chain cannot be asked about this: BASE_RPC_URL is not set. Where you know better, add --unchecked\n",
    ]);
    const silent = await run({ BASE_RPC_URL: "http://127.0.0.1:9" }, "close", first?.id as string, "--tx", nowhere);
    expect([silent.code, silent.err.endsWith("add --unchecked\n")], silent.err).to.deep.equal([1, true]);
    const elsewhere = await close(first?.id as string, nowhere, "--dir", "/nowhere");
    expect(elsewhere.err).to.match(/^payphone: cannot read the rails in \/nowhere/);
    expect((await close(first?.id as string, nowhere, "--unchecked")).code).to.equal(0);
    expect((await close(second?.id as string, nowhere)).code).to.equal(2);
  });

  it("takes one transaction for one refund at a time", async () => {
    const [first, second] = await openJobs([someone(), someone()]);
    const transaction = `0x${"ef".repeat(32)}`;
    const place = { dataDir: data, redisUrl: undefined };
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const checkPaid = (): Promise<void> => {
      asked.resolve();
      return answered.promise;
    };
    const closing = closeRefund(place, { job: first?.id as string, transaction, checkPaid });
    await asked.promise;
    const beside = { job: second?.id as string, transaction };
    expect(await problemOf(closeRefund(place, beside))).to.include({ code: "payment-conflict" });
    answered.resolve();
    await closing;
    await closeRefund(place, beside);
  });

  it("closes one refund for one operator: another, who has paid it meanwhile, is told with what it was closed", async () => {
    const [job] = await openJobs([someone()]);
    const place = { dataDir: data, redisUrl: undefined };
    const [ours, theirs] = [`0x${"a1".repeat(32)}`, `0x${"b2".repeat(32)}`];
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const checkPaid = (): Promise<void> => {
      asked.resolve();
      return answered.promise;
    };
    const closing = closeRefund(place, { job: job?.id as string, transaction: ours, checkPaid });
    await asked.promise;
    const beside = { job: job?.id as string, transaction: theirs };
    expect(await problemOf(closeRefund(place, beside))).to.include({ code: "payment-conflict" });
    answered.resolve();
    await closing;
    expect((await problemOf(closeRefund(place, beside))).message).to.include(`is over: it was paid by ${ours}`);
  });

  it("closes what was signed and then cancelled: a person has to pay it", async () => {
    const [job] = await openJobs([someone()]);
    const id = job?.id as string;
    const store = await openStore({ dataDir: data });
    const records = createRefundRecords(store);
    await records.choose(id, { signed: SIGNED });
    const transaction = `0x${"c3".repeat(32)}`;
    await closeRefund({ dataDir: data, redisUrl: undefined }, { job: id, transaction });
    expect(await records.readEnd(id)).to.include({ transaction });
    await store.close();
  });

  const transfers: Transfer[] = [];
  const chain = { begin: async () => 0, read: async () => [], of: async () => transfers, isPayment: async () => true };
  const check = createCheckPaid(site.rails, async () => () => ({ chain }));
  const records = { ends: async function* () {} };

  it("takes one that has paid others, too, or this buyer in another token, or earlier", async () => {
    const { payment } = failedJob();
    transfers.splice(0, 1, { transaction: "0xab", from: null, to: payment.payer as string, amount: PRICE, at: 0 });
    const [other, token] = [
      { ...payment, payer: someone() },
      { ...payment, asset: someone() },
    ];
    const ends = async function* (): AsyncGenerator<RefundEnd> {
      for (const [transaction, paid] of Object.entries({ "0xab": other, "0xcd": payment }))
        yield { transaction, at: 0, paid };
      yield { transaction: "0xab", at: 0, paid: token };
    };
    await check({ payment, openedAt: 0 }, "0xab", { ends });
  });

  it("takes none with which a refund is noted whose amount a damaged record has lost", async () => {
    const [first, second] = await openJobs([someone(), someone()]);
    const transaction = `0x${"d4".repeat(32)}`;
    const place = { dataDir: data, redisUrl: undefined };
    await closeRefund(place, { job: first?.id as string, transaction });
    damage(data, `refund-end:${first?.id}`);
    const to = second?.payment.payer as string;
    transfers.splice(0, 1, { transaction, from: null, to, amount: PRICE, at: 0 });
    const refusal = await problemOf(closeRefund(place, { job: second?.id as string, transaction, checkPaid: check }));
    expect(refusal.message).to.equal(
      `${transaction} is noted with another refund, of which it is not known any more how much it has paid. Where you know better, add --unchecked`,
    );
  });

  it("takes no transaction from before the refund was opened, as far as the chain tells its time", async () => {
    const { payment } = failedJob();
    const openedAt = Date.UTC(2026, 0, 2);
    const paidAt = (at: number): Promise<void> => {
      transfers.splice(0, 1, { transaction: "0xab", from: null, to: payment.payer as string, amount: PRICE, at });
      return check({ payment, openedAt }, "0xab", records);
    };
    const refusal = await problemOf(paidAt(Date.UTC(2026, 0, 1)));
    expect(refusal.message).to.equal(
      "0xab was made at 2026-01-01T00:00:00.000Z, before this refund was opened at 2026-01-02T00:00:00.000Z. Where you know better, add --unchecked",
    );
    for (const at of [0, openedAt - 60_000, openedAt]) await paidAt(at);
  });

  it("asks nobody about a refund to a buyer whom nobody knows, and no chain for a token without a rail", async () => {
    const about = (payment: Parameters<typeof failedJob>[0]) => ({ ...failedJob(payment), openedAt: 1 });
    await check(about({ payer: null }), "0xab", records);
    const refusal = await problemOf(check(about({ asset: someone() }), "0xab", records));
    expect(refusal.message).to.match(/^The chain cannot be asked .*: the site has no rail of the token 0x/);
  });
});
