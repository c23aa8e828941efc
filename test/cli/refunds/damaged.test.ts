import { expect } from "chai";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { createRefundRecords } from "../../../runtime/core/refunds/records.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { follow, insist, makePayment } from "../../core/jobs/crash-round.ts";
import { openErrands } from "../../core/jobs/errands.ts";
import { failedJob } from "../../core/refunds/rail.ts";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { type Ran, runPayphone } from "../../support/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { startLocalSeller } from "../../support/sellers/local-seller.ts";
import { damage } from "../../support/store/damage.ts";

describe("a damaged record of a refund", () => {
  const data = createFolder();
  let sandbox: TestSandbox;
  let shop: ReturnType<typeof openErrands>;
  before(async () => {
    sandbox = await sharedSandbox();
    shop = openErrands();
  });

  const refunds = (...args: string[]): Promise<Ran> =>
    runPayphone(["refunds", ...args], { ...sandbox.env, PAYPHONE_DATA_DIR: data });
  const start = async () =>
    startLocalSeller({ sandbox, set: await loadSet(shop.dir), dataDir: data, env: { ERRAND_LOG: shop.log } });

  it("is named, and the other refunds are listed", async () => {
    const store = await openStore({ dataDir: data });
    const terms = { openedAt: 1, state: "manual", reason: "Why" } as const;
    const other = failedJob();
    await createRefundRecords(store).open({ ...other, ...terms });
    await store.close();
    damage(data, "refund:00-cut");
    const listed = await refunds("--json");
    expect((JSON.parse(listed.out) as { job: string }[]).map(({ job }) => job)).to.deep.equal([other.id]);
    expect(listed.err).to.match(/^The record of the refund of 00-cut is damaged: .*refund\.damaged\)$/m);
    expect(listed.code).to.equal(1);
    const closed = await refunds("close", "00-cut", "--tx", `0x${"ab".repeat(32)}`, "--unchecked");
    expect(closed.err).to.include('The record "refund:00-cut" in the store is damaged');
    damage(data, "refund-end:00-over");
    const over = await refunds("close", "00-over", "--undone", "--unchecked");
    expect(over.err).to.include("The refund of 00-over is over, and the record of its end is damaged");
  });

  it("is written anew from the sale in the book, which is paid back, and no other one waits for it", async () => {
    const seller = await start();
    const id = await insist(await makePayment(sandbox, seller, { what: "x" }), seller);
    expect(await follow(seller, id)).to.include({ status: "DELIVERED" });
    await seller.stop();
    const buyer = sandbox.description.buyer.evm.address;
    const before = await sandbox.usdc.balanceOf(buyer);
    damage(data, `refund:${id}`);
    const next = await start();
    await eventually(async () => (await sandbox.usdc.balanceOf(buyer)) === before + 1000n);
    expect((await refunds()).err).not.to.include(id);
    expect(next.output()).to.include("refund.restored");
    expect(next.output().match(/"refund\.damaged"/g), "the one that the book does not know").to.have.length(1);
    await next.stop();
  });
});
