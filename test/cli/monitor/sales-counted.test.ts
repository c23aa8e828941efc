import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { type Monitor, openMonitor } from "../../../runtime/cli/monitor/monitor.ts";
import type { SoldSet } from "../../../runtime/cli/monitor/state.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { openShop, ROLL, type ShopOptions } from "../../support/sellers/shop.ts";

describe("sales in /metrics", () => {
  const data = createFolder();
  let store: OpenStore;
  before(async () => {
    store = await openStore({ dataDir: data, redisUrl: undefined });
  });
  after(() => store.close());

  const openProcess = (): Promise<Monitor> => {
    const site = { rails: [] };
    const sold = { site, capabilities: new Set(), ready: async () => REPORT, jobsInLine: async () => new Map() };
    const config = readConfig({ ADMIN_PORT: "0" });
    return openMonitor({ sold: () => sold as unknown as SoldSet, config, store, log: silentLog });
  };
  const read = async ({ routes }: Monitor): Promise<string> => String((await routes[0]?.handle({} as never))?.body);
  const counted = async (monitor: Monitor): Promise<string[]> =>
    (await read(monitor)).match(/^payphone_(?:sales|revenue_usd|refunds)_total\{.*$/gm) ?? [];

  it("are those that a process has settled, and none whose work it does for another one", async () => {
    const [first, second] = [await openProcess(), await openProcess()];
    let kept = first.watchStore(store);
    const shared = { ...store, enter: (...entry) => kept.enter(...entry) } satisfies OpenStore as OpenStore;
    const shop = await openShop({ store: shared as unknown as NonNullable<ShopOptions["store"]> });
    shop.handler = () => {
      throw new Problem("upstream-failed", "The dice fell off the table");
    };
    const payment = await shop.pay("/v1/echo");
    const send = (): Promise<Response> => shop.post("/v1/echo", ROLL, { "payment-signature": payment });
    expect((await send()).status).to.equal(502);
    kept = second.watchStore(store);
    shop.handler = undefined;
    await eventually(send, ({ status }) => status === 200);
    await shop.close();
    const sale = (value: number, name: string): string => `payphone_${name}_total{service="echo",rail="base"} ${value}`;
    expect(await counted(first)).to.deep.equal([sale(1, "sales"), sale(0.001, "revenue_usd")]);
    expect(await counted(second)).to.deep.equal([]);
  });

  it("are counted once however often they are entered, beside their refunds, and what they read from caches", async () => {
    const monitor = await openProcess();
    const { enter } = monitor.watchStore({ ...store, get: async () => undefined, enter: async () => {} });
    const sale = { kind: "sale", id: "sale_1", service: "roll", rail: "base", usd: "0.01" };
    const refund = { kind: "refund", id: "refund_1", service: "roll" };
    const reversal = { kind: "reversal", id: "reversal_1" };
    for (const event of [sale, sale, refund, refund, reversal]) await enter(event as never, { key: "k" } as never);
    const names = { minute: 0, service: "roll", door: "rest", rail: "base" } as const;
    monitor.countTallies([
      { ...names, what: "cache:hit", count: 3 },
      { ...names, what: "result", count: 2 },
    ]);
    const label = '{service="roll",rail="base"}';
    expect(await counted(monitor)).to.deep.equal([
      `payphone_sales_total${label} 1`,
      `payphone_revenue_usd_total${label} 0.01`,
      'payphone_refunds_total{service="roll"} 1',
    ]);
    const tallies = (await read(monitor)).match(/^payphone_(?:cache_reads|payments)_total\{.*$/gm);
    expect(tallies).to.have.members([
      'payphone_payments_total{service="roll",door="rest",rail="base",outcome="result"} 2',
      'payphone_cache_reads_total{service="roll",outcome="hit"} 3',
    ]);
  });
});

const REPORT = { rails: [], upstreams: [], services: [] };
