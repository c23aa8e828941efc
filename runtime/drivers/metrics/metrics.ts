import { Counter, collectDefaultMetrics, Gauge, Histogram, type HistogramConfiguration, Registry } from "prom-client";
import { DOORS } from "../../core/books/events.ts";
import { createGatherer } from "../../core/books/gatherer.ts";
import { createSales } from "./sales.ts";

/** The Prometheus metrics of a process. No label names a payer, so that the set bounds the number of series. */
export interface Metrics {
  readonly contentType: string;
  /** All metrics as text (Prometheus text format 0.0.4). */
  scrape(): Promise<string>;
  readonly count: MetricCounts;
}

/**
 * The counters. Services, rails and upstreams are named by their ids. Calls are counted when their tallies are to be
 * written, everything else at once.
 */
export interface MetricCounts {
  challenges(service: string, door: string, by: number): void;
  /** @param outcome `result`, `free`, `replay`, `left`, `refused:<reason>` or `failed:<problem code>` */
  payments(
    labels: { readonly service: string; readonly door: string; readonly rail: string; readonly outcome: string },
    by: number,
  ): void;
  /** @param outcome `hit` or `miss` */
  cacheReads(service: string, outcome: string, by: number): void;
  /** `usd`: US dollars, decimal text. */
  sale(sale: { readonly service: string; readonly rail: string; readonly usd: string }): void;
  refund(service: string): void;
  call(service: string, door: string, ms: number): void;
  settlement(rail: string, ms: number): void;
  upstream(upstream: string, outcome: string, ms: number): void;
  jobEnded(service: string, state: "delivered" | "failed"): void;
}

/** The current state of a shop. What cannot be read is omitted. */
export interface ShopState {
  /** Whether the store takes writes, as far as this process can tell. */
  readonly isStoreUp: boolean;
  /** How many sentences `/ready` has for the operator. */
  readonly warnings: number;
  readonly rails: readonly { readonly rail: string; readonly isUp: boolean }[];
  /** The facilitators that are distrusted now. */
  readonly distrusted: readonly { readonly facilitator: string; readonly network: string }[];
  readonly upstreams: readonly { readonly upstream: string; readonly isUp: boolean }[];
  readonly services: readonly string[];
  /** Queued or running jobs, in all processes. */
  readonly jobs: readonly { readonly service: string; readonly inLine: number }[];
  /** Refunds that are not paid yet: automatic ones, how many of them are late, and manual ones. */
  readonly refunds?: { readonly pending: number; readonly late: number; readonly manual: number };
  /** The treasury's native coins, and the least it should have. */
  readonly treasury: readonly { readonly network: string; readonly coins: number; readonly least: number }[];
}

/** Bucket bounds in seconds. */
const CALLS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const WAITS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 40];

/**
 * prom-client gauges whose names end like counters; the gauges by type (`nodejs_active_handles` …) have the same data.
 */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** @param readState called at each scrape @param labels of all metrics */
export function createMetrics(
  readState: () => Promise<ShopState>,
  labels: Readonly<Record<string, string>> = {},
): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const { count, begin } = createCounts(registry);
  const show = createGauges(registry);
  return {
    contentType: registry.contentType,
    async scrape() {
      const state = await readState();
      begin(state);
      show(state);
      return registry.metrics();
    },
    count,
  };
}

/** `begin` makes series at 0: Prometheus sees no increase in one that appears with its first count. */
function createCounts(registry: Registry): {
  readonly count: MetricCounts;
  readonly begin: (state: ShopState) => void;
} {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> =>
    new Counter({ name: `payphone_${name}`, help, labelNames, registers });
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    bounds: readonly number[],
  ): Observe<Label> => createObserver({ name: `payphone_${name}`, help, labelNames, buckets: [...bounds], registers });

  const challenges = counter("challenges_total", "Calls without a payment that were told the price.", [
    "service",
    "door",
  ]);
  const payments = counter("payments_total", "Calls that did more than ask for the price, by how they ended.", [
    "service",
    "door",
    "rail",
    "outcome",
  ]);
  const cache = counter("cache_reads_total", "Reads of caches on behalf of calls.", ["service", "outcome"]);
  const sales = createSales(registry);
  const refunds = counter("refunds_total", "Payments that were paid back automatically.", ["service"]);
  const jobs = counter("jobs_ended_total", "Jobs that are over.", ["service", "state"]);
  const calls = histogram(
    "call_seconds",
    "From the request to the answer, of calls with a payment and of free calls.",
    ["service", "door"],
    CALLS,
  );
  const settlements = histogram(
    "settlement_seconds",
    "From the result on record to the known settlement.",
    ["rail"],
    WAITS,
  );
  const upstreams = histogram("upstream_seconds", "Attempts at upstreams.", ["upstream", "outcome"], WAITS);

  const count: MetricCounts = {
    challenges: (service, door, by) => challenges.inc({ service, door }, by),
    payments: (labels, by) => payments.inc(labels, by),
    cacheReads: (service, outcome, by) => cache.inc({ service, outcome }, by),
    sale: sales.add,
    refund: (service) => refunds.inc({ service }),
    call: (service, door, ms) => calls({ service, door }, ms / 1000),
    settlement: (rail, ms) => settlements({ rail }, ms / 1000),
    upstream: (upstream, outcome, ms) => upstreams({ upstream, outcome }, ms / 1000),
    jobEnded: (service, state) => jobs.inc({ service, state }),
  };
  return {
    count,
    begin(shop) {
      for (const { service } of shop.jobs) for (const state of ["delivered", "failed"]) jobs.inc({ service, state }, 0);
      for (const service of shop.services) {
        refunds.inc({ service }, 0);
        for (const door of DOORS) challenges.inc({ service, door }, 0);
        for (const { rail } of shop.rails) sales.begin({ service, rail });
      }
    },
  };
}

type Observe<Label extends string> = (labels: Readonly<Record<Label, string>>, value: number) => void;

/** A histogram whose values are gathered until it is read. */
function createObserver<Label extends string>(options: HistogramConfiguration<Label>): Observe<Label> {
  const gathered = createGatherer<{ readonly labels: Readonly<Record<Label, string>>; readonly value: number }>(
    ({ labels, value }) => histogram.observe(labels, value),
  );
  const histogram = new Histogram({ ...options, collect: gathered.work });
  return (labels, value) => gathered.add({ labels, value });
}

/** Gauges of the shop's state. Series that are missing from the newest state are removed. */
function createGauges(registry: Registry): (state: ShopState) => void {
  const registers = [registry];
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Gauge<Label> =>
    new Gauge({ name: `payphone_${name}`, help, labelNames, registers });
  const store = gauge("store_up", "Whether the store takes writes.", []);
  const warnings = gauge("warnings", "Warnings in /ready.", []);
  const rails = gauge("rail_up", "Whether a rail can be paid on now.", ["rail"]);
  const distrusted = gauge("facilitator_distrusted", "Facilitators that are distrusted and skipped.", [
    "facilitator",
    "network",
  ]);
  const upstreams = gauge("upstream_up", "Whether an upstream is asked now.", ["upstream"]);
  const jobs = gauge("jobs", "Jobs in line or at work, in all processes.", ["service", "state"]);
  const refunds = gauge("refunds_pending", "Refunds that are owed: `manual` ones wait for somebody.", ["state"]);
  const balance = gauge("treasury_native_balance", "The treasury's coins for fees.", ["network"]);
  const least = gauge("treasury_native_least", "How many coins the treasury should have.", ["network"]);

  return (state) => {
    for (const each of [rails, distrusted, upstreams, jobs, refunds, balance, least]) each.reset();
    store.set(Number(state.isStoreUp));
    warnings.set(state.warnings);
    for (const { rail, isUp } of state.rails) rails.set({ rail }, Number(isUp));
    for (const { facilitator, network } of state.distrusted) distrusted.set({ facilitator, network }, 1);
    for (const { upstream, isUp } of state.upstreams) upstreams.set({ upstream }, Number(isUp));
    for (const { service, inLine } of state.jobs) jobs.set({ service, state: "in_line" }, inLine);
    if (state.refunds) {
      refunds.set({ state: "pending" }, state.refunds.pending);
      refunds.set({ state: "manual" }, state.refunds.manual);
    }
    for (const { network, coins, least: should } of state.treasury) {
      balance.set({ network }, coins);
      least.set({ network }, should);
    }
  };
}
