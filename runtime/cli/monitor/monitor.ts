import cluster from "node:cluster";
import type { BookTally } from "../../core/books/events.ts";
import { createGatherer } from "../../core/books/gatherer.ts";
import type { CallNames, Tallies } from "../../core/books/tallies.ts";
import type { JobEnd } from "../../core/jobs/records.ts";
import type { PaymentRecord } from "../../core/payments/record.ts";
import type { MetricCounts } from "../../drivers/metrics/metrics.ts";
import type { OpenStore } from "../../drivers/store/keyv.ts";
import type { Transport } from "../../drivers/upstream/transport.ts";
import type { AdminRoute } from "../../server/admin/routes.ts";
import { createStateReader, type StateDeps } from "./state.ts";

/** Counts events for Prometheus. Without ADMIN_PORT, nothing is counted and there is no route. */
export interface Monitor {
  /** Wraps the store, so that sales and refunds are counted when they are written. */
  watchStore(store: OpenStore): OpenStore;
  /** Has these tallies counted before metrics are read, instead of those of the set before. */
  watchTallies(tallies: Pick<Tallies, "flush">): void;
  /** Counts tallies that are new. */
  countTallies(tallies: readonly BookTally[]): void;
  countTime(names: CallNames, ms: number): void;
  watchTransport(transport: Transport): Transport;
  /** Counts a job whose end this process has recorded. */
  jobEnded(service: string, state: JobEnd["state"]): void;
  readonly routes: readonly AdminRoute[];
}

const BLIND: Monitor = {
  watchStore: (store) => store,
  watchTallies: () => {},
  countTallies: () => {},
  countTime: () => {},
  watchTransport: (transport) => transport,
  jobEnded: () => {},
  routes: [],
};

/** Opens the monitor. Loads prom-client only when ADMIN_PORT is set. */
export async function openMonitor(deps: StateDeps): Promise<Monitor> {
  if (deps.config.admin.port === undefined) return BLIND;
  const { createMetrics } = await import("../../drivers/metrics/metrics.ts");
  // Workers share ADMIN_PORT: without a label, each scrape would show the counters of another one.
  const labels = cluster.worker ? { worker: `${cluster.worker.id}` } : {};
  const { count, scrape, contentType } = createMetrics(createStateReader(deps), labels);
  let flush: Tallies["flush"] = async () => {};
  const isNew = createMemory(REMEMBERED);
  const entered = createGatherer<Entered>(({ event, isKnown }) => {
    if (isNew(event.id) && !isKnown) countEvent(event, count);
  });
  return {
    watchStore: (store) => watchStore(store, entered.add),
    watchTallies(tallies) {
      flush = tallies.flush; // Those of the set before are written when it ends.
    },
    countTallies(tallies) {
      for (const tally of tallies) countTally(tally, count);
    },
    countTime: ({ service, door }, ms) => count.call(service, door, ms),
    watchTransport: (transport) => watchTransport(transport, count),
    jobEnded: (service, state) => count.jobEnded(service, state === "DELIVERED" ? "delivered" : "failed"),
    routes: [
      {
        method: "GET",
        path: "/metrics",
        async handle() {
          entered.work();
          void flush(); // Counted at once, however long the store takes.
          // Otherwise a Prometheus would keep its connection, and only ever see one of the workers.
          const turn = cluster.worker ? ["Connection", "close"] : [];
          return { status: 200, headers: ["Content-Type", contentType, ...turn], body: await scrape() };
        },
      },
    ],
  };
}

/** How many event ids are remembered. An event may be entered more than once, but is counted once. */
const REMEMBERED = 10_000;

interface Entered {
  readonly event: Event;
  /** Whether it had been entered before. */
  readonly isKnown: boolean;
}

type Event = Parameters<OpenStore["enter"]>[0];

/** @param add called with each event that was entered */
function watchStore(store: OpenStore, add: (entered: Entered) => void): OpenStore {
  return {
    ...store,
    async enter(event, entry) {
      // A sale that was paid before its work is entered again after each run, also by a process that has not counted it.
      const mayBeKnown = event.kind === "sale" && event.times?.worked === undefined;
      const known = mayBeKnown ? isSold(store, entry.key) : undefined; // Asked for before the entry is written.
      await store.enter(event, entry);
      add({ event, isKnown: known !== undefined && (await known) });
    },
  };
}

/** Whether a payment is on record as settled. */
async function isSold(store: OpenStore, key: string): Promise<boolean> {
  const record = await store.get<Pick<PaymentRecord, "state">>(key).catch(() => undefined);
  return record?.state === "settled";
}

/**
 * Whether an id is new. Remembers at least the last `most` ids in two sets, and drops the older set as a whole, because
 * deleting a set's oldest items one by one is slow.
 */
function createMemory(most: number): (id: string) => boolean {
  let [newer, older] = [new Set<string>(), new Set<string>()];
  return (id) => {
    if (newer.has(id) || older.has(id)) return false;
    if (newer.size >= most) [newer, older] = [new Set(), newer];
    newer.add(id);
    return true;
  };
}

function countEvent(event: Event, count: MetricCounts): void {
  if (event.kind === "refund") count.refund(event.service);
  if (event.kind !== "sale") return;
  const { rail, at, times } = event;
  count.sale(event);
  if (times?.recorded !== undefined) count.settlement(rail, at - times.recorded);
}

function countTally({ service, door, rail, what, count: by }: BookTally, count: MetricCounts): void {
  if (what === "challenge") count.challenges(service, door, by);
  else if (what.startsWith("cache:")) count.cacheReads(service, what.slice("cache:".length), by);
  else if (!/^(attempt$|gone$|ms:|job:)/.test(what)) count.payments({ service, door, rail, outcome: what }, by);
}

function watchTransport(transport: Transport, count: MetricCounts): Transport {
  return async (request) => {
    const began = performance.now();
    let outcome = "failed";
    try {
      const answer = await transport(request);
      outcome = answer.status >= 500 || answer.status === 429 ? "refused" : "ok";
      return answer;
    } finally {
      count.upstream(request.upstream, outcome, performance.now() - began);
    }
  };
}
