import { expect } from "chai";
import { createStateReader, type SoldSet, type StateDeps } from "../../../runtime/cli/monitor/state.ts";
import { createRefundRecords } from "../../../runtime/core/refunds/records.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const REFUND = { service: "search", openedAt: 1, isOnRail: false, reason: "by hand", state: "manual" } as const;
const PAYMENT = { network: "eip155:137", asset: "0x1", amount: "5", payer: "0x2", transaction: "0x3" };

describe("the state that the pages and /metrics show", () => {
  let time: FrozenTime;
  beforeEach(() => {
    time = freezeTime();
  });
  afterEach(() => time.thaw());

  it("counts what is owed during a tenth of the time at most: with Redis, a list reads the names of all keys", async () => {
    const store = createMemoryStore(Date.now);
    const { keys } = store;
    store.keys = (prefix) => {
      time.stall(2000);
      return keys(prefix);
    };
    const report = { rails: [], upstreams: [], services: [] };
    const sold = {
      site: { rails: [] },
      capabilities: new Set(),
      ready: async () => report,
      jobsInLine: async () => [],
    };
    const config = {} as StateDeps["config"];
    const read = createStateReader({ sold: () => sold as unknown as SoldSet, config, store, log: silentLog });
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
