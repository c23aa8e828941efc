import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../api/capabilities.ts";
import type { QueuedJob } from "../../core/jobs/queue.ts";
import { createRefundRecords } from "../../core/refunds/records.ts";
import { LATE_MS } from "../../core/refunds/refunds.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";
import type { Store } from "../../core/store.ts";
import { restAfter } from "../../core/time/sweeper.ts";
import type { ShopState } from "../../drivers/metrics/metrics.ts";
import type { ReadyReport } from "../../server/routes/status.ts";
import type { Config } from "../config/config.ts";
import { feeAccounts } from "./treasury.ts";

/** The set that is being sold. */
export interface SoldSet {
  readonly site: SiteManifest;
  /** The capabilities that plugins take from `Host`, by their names. */
  readonly capabilities: ReadonlySet<string>;
  /** The answer of `GET /ready`. */
  ready(): Promise<ReadyReport>;
  /** The jobs that wait or run, in all processes, by service. @throws Problem `unavailable`. */
  jobsInLine(): Promise<ReadonlyMap<string, number>>;
  /** The oldest of these jobs, at most `most` of each service. @throws Problem `unavailable`. */
  jobsWaiting(most: number): Promise<readonly QueuedJob[]>;
}

export interface StateDeps {
  readonly sold: () => SoldSet;
  readonly config: Config;
  readonly store: Store;
  readonly log: Log;
}

/** The chains are asked for the treasury's balances at most this often. */
const BALANCES_MS = 60_000;
/** How long an answer waits for new balances before it shows the previous ones. The chains are asked on. */
const PATIENCE_MS = 100;
/** How long a chain may take to answer. */
const ANSWER_MS = 3000;

/** Reads the state of the shop. Values that cannot be read are omitted. */
export function createStateReader({ sold, config, store, log }: StateDeps): () => Promise<ShopState> {
  let balances: ShopState["treasury"] = [];
  let asked = Number.NEGATIVE_INFINITY;
  const refunds = createRefundRecords(store);
  let counted: { readonly owed: NonNullable<ShopState["refunds"]>; readonly until: number } | undefined;

  return async () => {
    const { ready, jobsInLine } = sold();
    const [report, jobs, owed] = await Promise.all([
      ready(),
      jobsInLine().catch(() => new Map<string, number>()),
      countRefunds().catch(() => undefined),
      Promise.race([refreshBalances(), sleep(PATIENCE_MS)]),
    ]);
    return {
      isStoreUp: report.store === "up",
      warnings: report.warnings?.length ?? 0,
      rails: report.rails.map(({ id, state }) => ({ rail: id, isUp: state === "up" })),
      distrusted: report.distrusted ?? [],
      services: report.services.map(({ id }) => id),
      upstreams: report.upstreams.map(({ id, state }) => ({ upstream: id, isUp: state === "up" })),
      jobs: [...jobs].map(([service, inLine]) => ({ service, inLine })),
      ...(owed && { refunds: owed }),
      treasury: balances,
    };
  };

  async function countRefunds(): Promise<NonNullable<ShopState["refunds"]>> {
    const began = performance.now();
    if (counted && began < counted.until) return counted.owed;
    const owed = { pending: 0, late: 0, manual: 0 };
    const countDamaged = (): void => {
      owed.manual += 1; // Somebody must look at it.
    };
    for await (const { state, held, openedAt } of refunds.list(countDamaged)) {
      if (held) continue;
      owed[state] += 1;
      if (state === "pending" && Date.now() - openedAt > LATE_MS) owed.late += 1;
    }
    counted = { owed, until: performance.now() + restAfter(began) };
    return owed;
  }

  async function refreshBalances(): Promise<void> {
    if (performance.now() - asked < BALANCES_MS) return;
    asked = performance.now();
    const { site, capabilities } = sold();
    const signal = AbortSignal.timeout(ANSWER_MS);
    const read = feeAccounts(config, site, capabilities).map(async ({ rail, decimals, least, read }) => {
      const { balance } = await read(signal);
      const toCoins = (units: bigint): number => Number(toDecimal(units, decimals));
      return { network: rail.network, coins: toCoins(balance), least: toCoins(least) };
    });
    const ended = await Promise.allSettled(read);
    for (const result of ended)
      if (result.status === "rejected") log.warn("metrics.balance-unread", { error: result.reason });
    balances = ended.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }
}
