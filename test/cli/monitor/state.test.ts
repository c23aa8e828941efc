import { expect } from "chai";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { createStateReader, type SoldSet, type StateDeps } from "../../../runtime/cli/monitor/state.ts";
import { feeAccounts } from "../../../runtime/cli/monitor/treasury.ts";
import { createRefundRecords, type OpenRefund } from "../../../runtime/core/refunds/records.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { ReadyReport } from "../../../runtime/server/routes/status.ts";
import { rail, site } from "../../support/chains/chains.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const REFUND = { service: "search", openedAt: 1, reason: "by hand", state: "manual" } as const;
const PAYMENT = { network: "eip155:137", asset: "0x1", amount: "5", payer: "0x2", transaction: "0x3" };

const HOUR_MS = 60 * 60_000;

/** A shop without rails. */
function toDeps(store: StateDeps["store"], change: Partial<ReadyReport> = {}): StateDeps {
  const report = { store: "up", rails: [], upstreams: [], services: [], ...change };
  const sold = {
    site: { rails: [] },
    capabilities: new Set(),
    ready: async () => report,
    jobsInLine: async () => [],
  };
  const config = {} as StateDeps["config"];
  return { sold: () => sold as unknown as SoldSet, config, store, log: silentLog };
}

describe("the state that the pages and /metrics show", () => {
  let time: FrozenTime;
  beforeEach(() => {
    time = freezeTime();
  });
  afterEach(() => time.thaw());

  it("counts the refunds that are not paid an hour after they should have been, without those by hand", async () => {
    const store = createMemoryStore(Date.now);
    const refunds = createRefundRecords(store);
    const open = (id: string, change: Partial<OpenRefund> = {}): Promise<boolean> =>
      refunds.open({ ...REFUND, id, payment: PAYMENT, openedAt: Date.now(), state: "pending", ...change });
    await open("job1");
    await open("job2", { held: { transaction: "0x4", at: Date.now() } });
    await open("job3", { state: "manual" });
    const owed = async (): Promise<unknown> => {
      const reading = createStateReader(toDeps(store))();
      await time.pass(0);
      return (await reading).refunds;
    };
    await time.pass(HOUR_MS);
    expect(await owed()).to.deep.equal({ pending: 1, late: 0, manual: 1 });
    await time.pass(1);
    expect(await owed()).to.deep.equal({ pending: 1, late: 1, manual: 1 });
  });

  it("has whether the store takes writes, and how many warnings there are", async () => {
    const read = async (change: Partial<ReadyReport>) => {
      const reading = createStateReader(toDeps(createMemoryStore(Date.now), change))();
      await time.pass(0);
      const { isStoreUp, warnings } = await reading;
      return [isStoreUp, warnings];
    };
    expect(await read({})).to.deep.equal([true, 0]);
    expect(await read({ store: "down", warnings: ["one", "two"] })).to.deep.equal([false, 2]);
  });

  it("counts what is owed during a tenth of the time at most: with Redis, a list reads the names of all keys", async () => {
    const store = createMemoryStore(Date.now);
    const { keys } = store;
    store.keys = (prefix) => {
      time.stall(2000);
      return keys(prefix);
    };
    const read = createStateReader(toDeps(store));
    const owed = async (): Promise<number | undefined> => {
      const reading = read();
      await time.pass(0);
      return (await reading).refunds?.manual;
    };
    expect(await owed()).to.equal(0);
    await createRefundRecords(store).open({ ...REFUND, id: "job1", payment: PAYMENT });
    await time.pass(19_000);
    expect(await owed()).to.equal(0);
    await time.pass(1000);
    expect(await owed()).to.equal(1);
  });
});

describe("the treasury's accounts for fees", () => {
  it("are one for each network, and hold enough for the highest fee that one of its rails allows", () => {
    const { max_fee: _, ...cheap } = rail("polygon");
    const other = { ...cheap, id: "polygon-usdc", asset: `0x${"3c".repeat(20)}` };
    for (const rails of [
      [rail("polygon"), other],
      [other, rail("polygon")],
    ]) {
      const accounts = feeAccounts(readConfig({}), { ...site, rails }, new Set());
      expect(accounts.map(({ least }) => least)).to.deep.equal([20n * 10n ** 18n]);
    }
  });
});
