import { expect } from "chai";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { createJobFailures } from "../../../runtime/core/jobs/failures.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { type LocalSeller, startLocalSeller } from "../../support/sellers/local-seller.ts";
import { damage } from "../../support/store/damage.ts";
import { countSteps, follow, insist, makePayment } from "./crash-round.ts";
import { openErrands } from "./errands.ts";

const PRICE = 1000n;

describe("paid jobs in line, some records of which are damaged", () => {
  const data = createFolder();
  let sandbox: TestSandbox;
  let shop: ReturnType<typeof openErrands>;
  let seller: LocalSeller | undefined;
  before(async () => {
    sandbox = await sharedSandbox();
    shop = openErrands();
  });
  after(() => seller?.stop());

  const start = async (): Promise<LocalSeller> =>
    startLocalSeller({ sandbox, set: await loadSet(shop.dir), dataDir: data, env: { ERRAND_LOG: shop.log } });
  const balance = (): Promise<bigint> => sandbox.usdc.balanceOf(sandbox.description.buyer.evm.address);
  /** The keys of the store that name a job. */
  async function keysOf(prefix: string, id: string): Promise<string[]> {
    const store = await openStore({ dataDir: data });
    const keys: string[] = [];
    for await (const key of store.keys(prefix)) if (key.includes(id)) keys.push(key);
    await store.close();
    return keys;
  }

  it("are done, or fail and are paid back, each of them, and the seller is told which records they are", async () => {
    const first = await start();
    const before = await balance();
    const buy = async (what: string): Promise<string> =>
      insist(await makePayment(sandbox, first, { what, pause_ms: 1500 }), first);
    const names = ["step", "record", "entry", "empty", "turns", "sound"] as const;
    const ids = new Map<string, string>();
    for (const name of names) ids.set(name, await buy(name));
    const id = (name: (typeof names)[number]): string => ids.get(name) as string;
    await eventually(() => countSteps(shop.log, { what: "step" })[0] === 1);
    await first.stop();
    expect(await balance()).to.equal(before - PRICE * BigInt(names.length));

    damage(data, `job:${id("record")}`);
    for (const key of await keysOf("queue:", id("entry"))) damage(data, key);
    for (const key of await keysOf("queue:", id("empty"))) damage(data, key, "null");
    damage(data, `job-turns:${id("turns")}`, '"many"');
    const steps = await keysOf("job-step:", id("step"));
    expect(steps).not.to.deep.equal([]);
    for (const key of steps) damage(data, key);
    damage(data, "jobs-failed", '"many"');

    seller = await start();
    for (const name of ["entry", "empty", "sound"] as const)
      expect(await follow(seller, id(name)), name).to.deep.include({
        status: "DELIVERED",
        deliverable: { done: name },
      });
    const failed = ["record", "turns", "step"] as const;
    for (const name of failed) {
      const { status, error, refund_tx } = await follow(seller, id(name));
      expect([status, error], name).to.deep.equal(["FAILED", "Its record in the shop's store was lost"]);
      expect(refund_tx).to.match(/^0x/);
    }
    expect(await balance()).to.equal(before - 3n * PRICE);
    for (const record of [`job:${id("record")}`, `job-step:${id("step")}:one`])
      expect(seller.output().split(`"record":"${record}"`), record).to.have.length(2);
    await eventually(async () => (await keysOf("queue:", "")).length === 0);
    const store = await openStore({ dataDir: data });
    const listed = await createJobFailures(store).list(10);
    await store.close();
    expect(listed.map((job) => job.id)).to.have.members(failed.map(id));
  });
});
