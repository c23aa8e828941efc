import type { Clock, Log } from "../../api/capabilities.ts";
import { nullIfDamaged } from "../../core/damage.ts";
import type { JobQueue, QueuedJob, Turn, TurnResult } from "../../core/jobs/queue.ts";
import { isObject } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { createLeases } from "../../core/time/leases.ts";
import { createSweeper } from "../../core/time/sweeper.ts";

export interface StoreQueueOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** How many jobs of a service this process runs concurrently. */
  readonly concurrencyOf: (service: string) => number;
  /** Whether another job of a service may run in this process; until then they are left in line, also for other processes. */
  readonly hasPlace?: (service: string) => boolean;
  /** How long after the death of a process other processes may take its jobs. */
  readonly leaseMs?: number;
  /** The interval of the search for jobs that other processes left, and for jobs whose next turn is due. */
  readonly sweepMs?: number;
  /** The delay after a turn that threw: the cause is not the job, but for example an unreachable store. */
  readonly troubleMs?: number;
}

interface Entry extends QueuedJob {
  /** When the next turn may begin: Unix milliseconds. */
  readonly notBefore: number;
  /** When that was decided; missing for a job that has not waited. */
  readonly since?: number;
}

/**
 * A queue in the store: enough for one process, and for several on one machine. A process takes jobs by leases, in the
 * order in which they were paid for.
 */
export function createStoreQueue(options: StoreQueueOptions): JobQueue {
  const { store, clock, log, concurrencyOf, hasPlace, leaseMs = 1500, sweepMs = 250, troubleMs = 2000 } = options;
  const onError = (error: unknown): void => log.warn("queue.turn-failed", { error });
  const leases = createLeases({ store, prefix: "queue-lease:", onError, reclaims: true, leaseMs });
  /** The services whose jobs this process takes. */
  const taken = new Set<string>();
  let take: Turn | undefined;

  const sweeper = createSweeper<Entry>({
    list,
    read: readDue,
    claim: leases.claim,
    attempt: async (key, entry, { signal }) => {
      await settle(key, entry, await giveTurn(entry, signal));
      return "done"; // The rest is in the store, for the next sweep of any process.
    },
    onError,
    onOutage: (error) => log.error("queue.sweep-failed", { error }),
    firstMs: sweepMs,
    longestMs: sweepMs,
    sweepMs,
    spreadMs: sweepMs,
    laneOf: serviceOf,
    limitOf: concurrencyOf,
  });

  return {
    async add(job) {
      const entry: Entry = { ...job, notBefore: 0 };
      await store.putIfAbsent(keyOf(job), entry);
      if (taken.has(job.service)) sweeper.schedule(keyOf(job));
    },
    async count(service) {
      let count = 0;
      for await (const _ of store.keys(`queue:${service}:`)) count += 1;
      return count;
    },
    async list(service, most) {
      const keys: string[] = [];
      for await (const key of store.keys(`queue:${service}:`)) keys.push(key);
      return keys.sort().slice(0, most).map(toJob);
    },
    async services() {
      const found = new Set<string>();
      for await (const key of store.keys("queue:")) found.add(serviceOf(key));
      return [...found];
    },
    start(turn, services) {
      take = turn;
      for (const service of services) taken.add(service);
      sweeper.start();
    },
    adopt: (service) => void taken.add(service),
    async abandon(service) {
      taken.delete(service);
    },
    drain: sweeper.drain,
    async close() {
      await sweeper.close();
      leases.close();
    },
  };

  async function* list(): AsyncGenerator<string> {
    const keys: string[] = [];
    for (const service of taken) for await (const key of store.keys(`queue:${service}:`)) keys.push(key);
    yield* keys.sort();
  }

  /** Undefined when the job has ended, is not due yet, or belongs to a service that this process does not take now. */
  async function readDue(key: string): Promise<Entry | undefined> {
    if (!taken.has(serviceOf(key)) || hasPlace?.(serviceOf(key)) === false) return undefined;
    const found = await store.get<unknown>(key).catch(nullIfDamaged);
    if (found === undefined) return undefined;
    const entry = isEntry(found) ? found : { ...toJob(key), notBefore: 0 }; // The key has what a damaged entry lacks.
    return isDue(entry, clock.now()) ? entry : undefined;
  }

  async function giveTurn({ id, service, at }: Entry, signal: AbortSignal): Promise<TurnResult> {
    try {
      return await (take as Turn)({ id, service, at }, signal);
    } catch (error) {
      log.warn("queue.turn-failed", { job: id, error });
      return { retryInMs: troubleMs };
    }
  }

  async function settle(key: string, entry: Entry, result: TurnResult): Promise<void> {
    if (result === "done") await store.delete(key);
    else if (result.retryInMs > 0) {
      const since = clock.now();
      await store.set(key, { ...entry, notBefore: since + result.retryInMs, since });
    }
  }
}

const isEntry = (value: unknown): value is Entry =>
  isObject(value) && typeof value.id === "string" && typeof value.notBefore === "number";

/** True also after the clock was set back: paid work must not wait for it. */
const isDue = ({ notBefore, since = 0 }: Entry, now: number): boolean => notBefore <= now || now < since;

/** Keys sort by time, which has 13 digits until the year 2286. */
const keyOf = ({ id, service, at }: QueuedJob): string => `queue:${service}:${String(at).padStart(13, "0")}:${id}`;

function toJob(key: string): QueuedJob {
  const [, service = "", at, id = ""] = key.split(":");
  return { id, service, at: Number(at) };
}

const serviceOf = (key: string): string => key.split(":")[1] as string;
